/// The form of a locale, and the languages that have a code.
enum Locales {
    /// Whether a locale is a language of ISO 639-1 with at most one script and one region: `en_US`, `zh_Hans`, `fr`.
    static func isKnown(_ locale: String) -> Bool {
        let parts = locale.split(separator: "_", omittingEmptySubsequences: false)
        guard let language = parts.first, Self.languages.contains(String(language)) else { return false }
        switch parts.dropFirst().count {
        case 0: return true
        case 1: return Self.isScript(parts[1]) || Self.isRegion(parts[1])
        case 2: return Self.isScript(parts[1]) && Self.isRegion(parts[2])
        default: return false
        }
    }

    /// Such as `Hans`.
    private static func isScript(_ part: Substring) -> Bool {
        let letters = Array(part.utf8)
        return letters.count == 4 && Self.isCapital(letters[0]) && letters.dropFirst().allSatisfy(Self.isSmall)
    }

    /// Such as `US`, or `419` for Latin America.
    private static func isRegion(_ part: Substring) -> Bool {
        let letters = Array(part.utf8)
        let isNumber = letters.count == 3 && letters.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return isNumber || (letters.count == 2 && letters.allSatisfy(Self.isCapital))
    }

    private static func isCapital(_ letter: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) }
    private static func isSmall(_ letter: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) }

    /// ISO 639-1, and `fil` and `yue`, which Apple's systems have with three letters.
    private static let languages = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en \
        eo es et eu fa ff fi fil fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja \
        jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd \
        ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss \
        st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo yue za zh zu
        """.split(separator: " ").map(String.init))
}
