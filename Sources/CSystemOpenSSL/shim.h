// The library's own header. Package.swift names the packages that bring it.
#include <openssl/ssl.h>
