#!/usr/bin/env python3
"""Writes a scenario for each time rate: rate-NAME.scenario.

A weekly, a monthly and a yearly subscription each live through a trial, three renewals, a failure with grace and
retry, a recovery, and a second failure that nobody mends. Every instant is computed here, from the table of the time
rates that Apple documents, typed in below; nothing of it comes from Perch.

    Tests/Scenarios/rates.py            writes the files
    Tests/Scenarios/rates.py --check    says which files differ from what it would write, and fails if any does
"""

import calendar
import pathlib
import sys
from datetime import datetime, timedelta, timezone

# --- The table -------------------------------------------------------------------------------------------------------

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def minutes(whole, seconds=0):
    return whole * MINUTE + seconds * SECOND


class Scaled:
    """A row of the table that says how long each period is, written out as Apple has it."""

    def __init__(self, week, month, year, weekly_grace, grace, retry):
        self.lengths = {"1w": week, "1mo": month, "1y": year}
        self.weekly_grace, self.grace, self.retry = weekly_grace, grace, retry

    def end(self, period, start):
        return start + self.lengths[period]


class Fixed(Scaled):
    """Every period lasts equally long, and so does the grace period; the store tries twice as long."""

    def __init__(self, length, retry):
        super().__init__(length, length, length, weekly_grace=length, grace=length, retry=retry)


class Compressed:
    """Deprecated rates: a day of the calendar lasts so long. A month has the days that it has where it begins."""

    def __init__(self, day):
        self.day = day
        self.weekly_grace, self.grace, self.retry = 6 * day, 16 * day, 60 * day

    def end(self, period, start):
        return start + (calendar_end(period, start) - start).days * self.day


class Real:
    """Weeks, months and years of the calendar."""

    weekly_grace, grace, retry = 6 * DAY, 16 * DAY, 60 * DAY

    def end(self, period, start, anchor=None):
        return calendar_end(period, start, anchor)


def calendar_end(period, start, anchor=None):
    """One period later. Months keep the day that the first one began on, or end with the month if they are shorter."""
    if period == "1w":
        return start + 7 * DAY
    month = start.month - 1 + (12 if period == "1y" else 1)
    year, month = start.year + month // 12, month % 12 + 1
    return start.replace(year=year, month=month, day=min(anchor or start.day, calendar.monthrange(year, month)[1]))


RATES = {
    "realTime": Real(),
    "oneHourIsOneDay": Compressed(HOUR),
    "thirtyMinutesIsOneDay": Compressed(minutes(30)),
    "fiveMinutesIsOneDay": Compressed(minutes(5)),
    "oneMinuteIsOneDay": Compressed(MINUTE),
    "thirtySecondsIsOneDay": Compressed(30 * SECOND),
    "oneSecondIsOneDay": Compressed(SECOND),
    #                                  week         month        year         grace: weekly   others         retry
    "monthlyRenewalEveryHour": Scaled(
        minutes(15), minutes(60), minutes(720), minutes(12, 51), minutes(30), minutes(120)),
    "monthlyRenewalEveryThirtyMinutes": Scaled(
        minutes(10), minutes(30), minutes(360), minutes(8, 34), minutes(15), minutes(60)),
    "monthlyRenewalEveryFifteenMinutes": Scaled(
        minutes(5), minutes(15), minutes(180), minutes(4, 17), minutes(7, 30), minutes(30)),
    "monthlyRenewalEveryFiveMinutes": Scaled(
        minutes(3), minutes(5), minutes(60), minutes(2, 34), minutes(2, 30), minutes(10)),
    "monthlyRenewalEveryThirtySeconds": Scaled(
        10 * SECOND, 30 * SECOND, minutes(6), 9 * SECOND, 15 * SECOND, MINUTE),
    "oneRenewalEveryFifteenMinutes": Fixed(minutes(15), retry=minutes(30)),
    "oneRenewalEveryFiveMinutes": Fixed(minutes(5), retry=minutes(10)),
    "oneRenewalEveryMinute": Fixed(MINUTE, retry=minutes(2)),
    "oneRenewalEveryThirtySeconds": Fixed(30 * SECOND, retry=MINUTE),
    "oneRenewalEveryTenSeconds": Fixed(10 * SECOND, retry=20 * SECOND),
    "oneRenewalEveryTwoSeconds": Fixed(2 * SECOND, retry=4 * SECOND),
}

# --- The lives -------------------------------------------------------------------------------------------------------

# The trial of a week ends on the 31st: real months have to keep that day.
START = datetime(2026, 1, 24, 10, tzinfo=timezone.utc)

#             account  product    period  trial  price
CUSTOMERS = [("wanda", "weekly", "1w", "1w", "1.99"), ("maud", "monthly", "1mo", "1w", "4.99"),
             ("yves", "yearly", "1y", "1mo", "29.99")]


def text(instant):
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


class Life:
    """What happens to one account: `events` are (instant, lines expected behind the clock's move, steps behind those).
    """

    def __init__(self, rate, account, product, period, trial, price):
        self.rate, self.account, self.product, self.period, self.price = rate, account, product, period, price
        self.name = account[0].upper()
        self.grace = rate.weekly_grace if period == "1w" else rate.grace
        self.events, self.history = [], []
        self.anchor = None

        end = rate.end(trial, START)
        self.buy(end)
        for number in (1, 2, 3):
            end = self.renew(number, end, last=number == 3)
        failed = end
        over = self.fail(failed)
        # Halfway through the rest of the retry period, to the second.
        recovered = over + (failed + self.rate.retry - over) // 2 // SECOND * SECOND
        end = self.recover(recovered)
        self.fail(end)
        self.lapse(end + self.rate.retry, end)

    def next_end(self, start):
        if isinstance(self.rate, Real) and self.period != "1w":
            self.anchor = self.anchor or start.day
            return self.rate.end(self.period, start, self.anchor)
        return self.rate.end(self.period, start)

    def status(self, items):
        return f"{self.account}: expect status club: {items}"

    def entitlement(self, items):
        return f"{self.account}: expect entitlement {self.product}: {items}"

    def at(self, instant, expected, steps=()):
        self.events.append((instant, expected, list(steps)))

    def remember(self, name, items):
        self.current = name
        self.history.append(f"{name} {items}")

    def buy(self, end):
        self.remember("T" + self.name, f"purchase until {text(end)}")
        self.at(START, [], [
            f"{self.account}: buy {self.product} as {self.current} -> new, offer free trial, price 0",
            self.status(f"subscribed {self.product} until {text(end)}, renews at {text(end)}, pushes once"),
            self.entitlement(f"{self.current}, until {text(end)}, pushes once"),
        ])

    def before(self, instant, state, entitlement):
        """The last millisecond in which nothing has happened yet."""
        self.at(instant - timedelta(milliseconds=1), [
            self.status(f"{state}, unchanged"), self.entitlement(f"{entitlement}, unchanged")])

    def subscribed(self, end):
        return f"subscribed {self.product} until {text(end)}"

    def renew(self, number, start, last):
        end = self.next_end(start)
        self.before(start, self.subscribed(start), self.current)
        self.remember(f"{self.name}{number}", f"renewal until {text(end)}")
        self.at(start, [
            self.status(f"{self.subscribed(end)}, renews at {text(end)}, pushes once"),
            self.entitlement(f"renewal, purchased now, until {text(end)}, price {self.price}, pushes once, "
                             f"as {self.current}"),
        ], [f"{self.account}: fail renewals"] if last else [])
        return end

    def fail(self, failed):
        grace, retry = failed + self.grace, failed + self.rate.retry
        self.before(failed, self.subscribed(failed), self.current)
        in_grace = f"in grace {self.product} until {text(grace)}"
        self.at(failed, [
            self.status(f"{in_grace}, because billingError, retrying, pushes once"),
            self.entitlement(f"{self.current}, unchanged"),
        ])
        self.before(grace, in_grace, self.current)
        self.at(grace, [
            self.status(f"in billing retry {self.product} until {text(retry)}, because billingError, pushes once"),
            self.entitlement("none, pushes once"),
        ])
        return grace

    def recover(self, recovered):
        self.anchor = None  # a cycle of its own
        end = self.next_end(recovered)
        name = f"{self.name}4"
        self.remember(name, f"renewal until {text(end)}")
        self.at(recovered, [self.status("in billing retry, unchanged"), self.entitlement("none, unchanged")], [
            f"{self.account}: resolve billing as {name}",
            self.status(f"{self.subscribed(end)}, renews at {text(end)}, pushes once"),
            self.entitlement(f"{name}, a renewal, purchased now, until {text(end)}, pushes once"),
            f"{self.account}: fail renewals",
        ])
        return end

    def lapse(self, over, since):
        self.before(over, f"in billing retry {self.product} until {text(over)}", "none")
        listed = ", ".join(self.history)
        self.at(over, [
            self.status(f"expired {self.product} since {text(since)}, because billingError, does not renew, pushes once"),
            self.entitlement("none, unchanged"),
            f"{self.account}: expect history: {listed}",
        ])


def scenario(name, rate):
    lines = [
        f"# Time rate {name}: a weekly, a monthly and a yearly subscription from their trial to their end.",
        "# Written by Tests/Scenarios/rates.py, which holds Apple's table of durations. Do not edit.",
        f"start {text(START)}",
        "strict",
        f"time rate {name}",
        "grace period 16 days",
    ]
    for level, (_, product, period, trial, price) in enumerate(CUSTOMERS, start=1):
        lines.append(f"product {product} {period} {price} group club level {level} trial {trial}")
    lives = [Life(rate, *customer) for customer in CUSTOMERS]
    by_instant = {}
    for life in lives:
        for instant, expected, steps in life.events:
            moment = by_instant.setdefault(instant, ([], []))
            moment[0].extend(expected)
            moment[1].extend(steps)
    for instant, (expected, steps) in sorted(by_instant.items()):
        lines.append("")
        if instant > START:
            whole = instant.replace(microsecond=0)
            if whole == instant:
                lines.append(f"at {text(instant)}")
            else:
                lines.append(f"at {text(whole + SECOND)}-1ms")
        lines.extend(expected)
        lines.extend(steps)
    return "\n".join(lines) + "\n"


def main():
    checking = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not checking:
        sys.exit(__doc__)
    folder = pathlib.Path(__file__).resolve().parent
    wanted = {f"rate-{name}.scenario": scenario(name, rate) for name, rate in RATES.items()}
    found = {path.name for path in folder.glob("rate-*.scenario")}
    different = sorted(found - set(wanted)) + [
        name for name, content in wanted.items() if name not in found or (folder / name).read_text() != content]
    if not checking:
        for name, content in wanted.items():
            (folder / name).write_text(content)
        return
    if different:
        sys.exit("Tests/Scenarios/rates.py would write these files otherwise: " + ", ".join(different))


if __name__ == "__main__":
    main()
