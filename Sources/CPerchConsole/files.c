/* The console's files as arrays. Clang reads them in a fraction of a second; as array literals of Swift, which SwiftPM's
   resources become, they took half a minute. A file of Sources/PerchConsole/Files needs its three lines and its row here. */
#include "CPerchConsole.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char account_js[] = {
#embed "../PerchConsole/Files/account.js"
};
static const unsigned char accounts_js[] = {
#embed "../PerchConsole/Files/accounts.js"
};
static const unsigned char app_js[] = {
#embed "../PerchConsole/Files/app.js"
};
static const unsigned char audit_js[] = {
#embed "../PerchConsole/Files/audit.js"
};
static const unsigned char backyard_birds_storekit[] = {
#embed "../PerchConsole/Files/backyard-birds.storekit"
};
static const unsigned char birds_html[] = {
#embed "../PerchConsole/Files/birds.html"
};
static const unsigned char birds_js[] = {
#embed "../PerchConsole/Files/birds.js"
};
static const unsigned char chart_js[] = {
#embed "../PerchConsole/Files/chart.js"
};
static const unsigned char clock_js[] = {
#embed "../PerchConsole/Files/clock.js"
};
static const unsigned char console_css[] = {
#embed "../PerchConsole/Files/console.css"
};
static const unsigned char destination_basic_png[] = {
#embed "../PerchConsole/Files/destination-basic.png"
};
static const unsigned char destination_premium_png[] = {
#embed "../PerchConsole/Files/destination-premium.png"
};
static const unsigned char destination_video_storekit[] = {
#embed "../PerchConsole/Files/destination-video.storekit"
};
static const unsigned char destination_html[] = {
#embed "../PerchConsole/Files/destination.html"
};
static const unsigned char destination_js[] = {
#embed "../PerchConsole/Files/destination.js"
};
static const unsigned char example_css[] = {
#embed "../PerchConsole/Files/example.css"
};
static const unsigned char example_js[] = {
#embed "../PerchConsole/Files/example.js"
};
static const unsigned char find_js[] = {
#embed "../PerchConsole/Files/find.js"
};
static const unsigned char flower_movie_storekit[] = {
#embed "../PerchConsole/Files/flower-movie.storekit"
};
static const unsigned char icon_svg[] = {
#embed "../PerchConsole/Files/icon.svg"
};
static const unsigned char icons_svg[] = {
#embed "../PerchConsole/Files/icons.svg"
};
static const unsigned char incoming_js[] = {
#embed "../PerchConsole/Files/incoming.js"
};
static const unsigned char index_html[] = {
#embed "../PerchConsole/Files/index.html"
};
static const unsigned char kit_js[] = {
#embed "../PerchConsole/Files/kit.js"
};
static const unsigned char live_js[] = {
#embed "../PerchConsole/Files/live.js"
};
static const unsigned char movie_html[] = {
#embed "../PerchConsole/Files/movie.html"
};
static const unsigned char movie_js[] = {
#embed "../PerchConsole/Files/movie.js"
};
static const unsigned char operations_js[] = {
#embed "../PerchConsole/Files/operations.js"
};
#if __has_embed("../PerchConsole/Files/perch-views.d.ts")
#define HAS_perch_views_d_ts
static const unsigned char perch_views_d_ts[] = {
#embed "../PerchConsole/Files/perch-views.d.ts"
};
#endif
#if __has_embed("../PerchConsole/Files/perch-views.js")
#define HAS_perch_views_js
static const unsigned char perch_views_js[] = {
#embed "../PerchConsole/Files/perch-views.js"
};
#endif
static const unsigned char perch_js[] = {
#embed "../PerchConsole/Files/perch.js"
};
static const unsigned char press_js[] = {
#embed "../PerchConsole/Files/press.js"
};
static const unsigned char products_js[] = {
#embed "../PerchConsole/Files/products.js"
};
static const unsigned char record_js[] = {
#embed "../PerchConsole/Files/record.js"
};
static const unsigned char settings_js[] = {
#embed "../PerchConsole/Files/settings.js"
};
static const unsigned char songs_html[] = {
#embed "../PerchConsole/Files/songs.html"
};
static const unsigned char songs_js[] = {
#embed "../PerchConsole/Files/songs.js"
};
static const unsigned char songs_storekit[] = {
#embed "../PerchConsole/Files/songs.storekit"
};
#if __has_embed("../PerchConsole/Files/states.html")
#define HAS_states_html
static const unsigned char states_html[] = {
#embed "../PerchConsole/Files/states.html"
};
#endif
#if __has_embed("../PerchConsole/Files/states.js")
#define HAS_states_js
static const unsigned char states_js[] = {
#embed "../PerchConsole/Files/states.js"
};
#endif
#if __has_embed("../PerchConsole/Files/store-sheets.js")
#define HAS_store_sheets_js
static const unsigned char store_sheets_js[] = {
#embed "../PerchConsole/Files/store-sheets.js"
};
#endif
static const unsigned char store_subscription_js[] = {
#embed "../PerchConsole/Files/store-subscription.js"
};
#if __has_embed("../PerchConsole/Files/store-texts.js")
#define HAS_store_texts_js
static const unsigned char store_texts_js[] = {
#embed "../PerchConsole/Files/store-texts.js"
};
#endif
static const unsigned char store_js[] = {
#embed "../PerchConsole/Files/store.js"
};
static const unsigned char streams_js[] = {
#embed "../PerchConsole/Files/streams.js"
};
static const unsigned char style_css[] = {
#embed "../PerchConsole/Files/style.css"
};

#define FILE(name) {#name, name, sizeof name}

static const struct perch_console_file files[] = {
    FILE(account_js),
    FILE(accounts_js),
    FILE(app_js),
    FILE(backyard_birds_storekit),
    FILE(birds_html),
    FILE(birds_js),
    FILE(chart_js),
    FILE(clock_js),
    FILE(console_css),
    FILE(destination_basic_png),
    FILE(destination_premium_png),
    FILE(destination_video_storekit),
    FILE(destination_html),
    FILE(destination_js),
    FILE(example_css),
    FILE(example_js),
    FILE(flower_movie_storekit),
    FILE(icon_svg),
    FILE(icons_svg),
    FILE(incoming_js),
    FILE(audit_js),
    FILE(index_html),
    FILE(kit_js),
    FILE(live_js),
    FILE(movie_html),
    FILE(movie_js),
    FILE(operations_js),
#ifdef HAS_perch_views_d_ts
    FILE(perch_views_d_ts),
#endif
#ifdef HAS_perch_views_js
    FILE(perch_views_js),
#endif
    FILE(perch_js),
    FILE(press_js),
    FILE(products_js),
    FILE(record_js),
    FILE(settings_js),
    FILE(songs_html),
    FILE(songs_js),
    FILE(songs_storekit),
#ifdef HAS_states_html
    FILE(states_html),
#endif
#ifdef HAS_states_js
    FILE(states_js),
#endif
#ifdef HAS_store_sheets_js
    FILE(store_sheets_js),
#endif
    FILE(store_subscription_js),
#ifdef HAS_store_texts_js
    FILE(store_texts_js),
#endif
    FILE(store_js),
    FILE(find_js),
    FILE(streams_js),
    FILE(style_css),
};

const struct perch_console_file *perch_console_file(size_t index) {
    return index < sizeof files / sizeof *files ? &files[index] : NULL;
}
