/** Characters between the parts of a date (RFC 6265, 5.1.1). */
const DELIMITERS = /[\t\x20-\x2f;-@[-`{-~]+/;
const TIME = /^(\d{1,2}):(\d{1,2}):(\d{1,2})(?!\d)/;
const DAY = /^(\d{1,2})(?!\d)/;
const MONTH = /^(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)/i;
const YEAR = /^(\d{2,4})(?!\d)/;
/** Each token is what it may be and no token before it was. */
const PARTS = [TIME, DAY, MONTH, YEAR];
const MONTHS = 'janfebmaraprmayjunjulaugsepoctnovdec';
const MIN_YEAR = 1601;
/** RFC 3339, as archives (HAR) have it; also without a zone or a time. */
const INTERNET_DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/i;

/** Reads a date of a cookie, as servers send it (RFC 6265) or as RFC 3339, in seconds; undefined for other texts. */
export function cookieDate(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = INTERNET_DATE.exec(text.trim()) ?? [];
  const ms = date === undefined ? sentDate(text) : Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms / 1000;
}

function sentDate(text: string): number {
  const found = new Map<RegExp, readonly string[]>();
  for (const token of text.split(DELIMITERS)) {
    const part = PARTS.find((each) => !found.has(each) && each.test(token));
    if (part !== undefined) found.set(part, part.exec(token)?.slice(1) ?? []);
  }
  const [hour = NaN, minute = NaN, second = NaN] = (found.get(TIME) ?? []).map(Number);
  const [day = NaN] = (found.get(DAY) ?? []).map(Number);
  const month = MONTHS.indexOf(found.get(MONTH)?.[0]?.toLowerCase() ?? 'none') / 3;
  const [written = NaN] = (found.get(YEAR) ?? []).map(Number);
  const year = written < 70 ? written + 2000 : written < 100 ? written + 1900 : written;
  const ms = Date.UTC(year, month, day, hour, minute, second);
  const isReal = hour < 24 && minute < 60 && second < 60 && month >= 0 && new Date(ms).getUTCDate() === day;
  return isReal && year >= MIN_YEAR ? ms : NaN;
}
