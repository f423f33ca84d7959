extension Instant {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the only form that RFC 9110 allows a server to send.
    package var httpDate: String {
        let civil = CivilTime(self)
        let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func pad(_ value: Int64, _ width: Int = 2) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let (day, rest) = self.milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let weekday = days[Int(((rest < 0 ? day - 1 : day) % 7 + 7) % 7)]
        let seconds = civil.milliseconds / 1_000
        let clock = "\(pad(seconds / 3_600)):\(pad(seconds / 60 % 60)):\(pad(seconds % 60))"
        return "\(weekday), \(pad(civil.day)) \(months[Int(civil.month) - 1]) \(pad(civil.year, 4)) \(clock) GMT"
    }
}
