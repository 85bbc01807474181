/** The first characters of a text are searched. */
const MAX_CHARACTERS = 100;

/** Names of the months, also shortened, in English, German, French, Spanish, Italian, Portuguese and Dutch. */
const MONTHS: readonly string[] = [
  'january jan januar jän jänner janvier janv enero ene gennaio gen janeiro januari',
  'february feb februar février févr fév febrero febbraio fevereiro fev februari',
  'march mar märz mär mars marzo março maart mrt',
  'april apr avril avr abril abr aprile',
  'may mai mayo maggio mag maio mei',
  'june jun juni juin junio giugno giu junho',
  'july jul juli juillet juil julio luglio lug julho',
  'august aug août aoû agosto ago augustus',
  'september sep sept septembre septiembre settembre set setembro',
  'october oct oktober okt octobre octubre ottobre ott outubro out',
  'november nov novembre noviembre novembro',
  'december dec dezember dez décembre déc diciembre dic dicembre dezembro',
];
const MONTH_OF: ReadonlyMap<string, number> = new Map(
  MONTHS.flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
);
const NAME = `(${[...MONTH_OF.keys()].sort((a, b) => b.length - a.length).join('|')})(?!\\p{L})`;

type Found = readonly [year: string | undefined, month: string | undefined, day: string | undefined];

/** How dates are written, and which groups are year, month and day. The first one that occurs in a text counts. */
const FORMS: readonly (readonly [RegExp, (groups: readonly (string | undefined)[]) => Found])[] = [
  [/(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/u, ([, year, month, day]) => [year, month, day]],
  [/(?<!\d)(\d{4})[./](\d{1,2})[./](\d{1,2})(?!\d)/u, ([, year, month, day]) => [year, month, day]],
  [/(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日일]/u, ([, year, month, day]) => [year, month, day]],
  [/(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)/u, ([, day, month, year]) => [year, month, day]],
  [/(?<!\d)(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?!\d)/u, ([, one, other, year]) => inOrder(one, other, year)],
  [
    new RegExp(
      `(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|er|[.º])?[\\s-](?:of |de )?${NAME}\\.?,?[\\s-](?:del? )?(\\d{4})(?!\\d)`,
      'iu',
    ),
    ([, day, month, year]) => [year, month, day],
  ],
  [
    new RegExp(`(?<!\\p{L})${NAME}\\.?\\s(\\d{1,2})(?:st|nd|rd|th)?,?\\s(\\d{4})(?!\\d)`, 'iu'),
    ([, month, day, year]) => [year, month, day],
  ],
];
/** A time directly after the date, with or without seconds, half of the day and zone. */
const TIME =
  /^(?:T|,? ?(?:at |um |à |às |a las |alle |om )?)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?(?: ?([ap])\.?m\b\.?)?(?: ?(Z|UTC|GMT)?([-+]\d{2}:?\d{2})?(?![\d\p{L}]))?/iu;
const EPOCH = /^\d{10}(?:\d{3})?$/;

/**
 * Returns the first date of a text as ISO 8601: a date, a local time when it says no zone, or else a time in UTC. Null
 * for none, for a day that does not exist, and when nothing tells the day from the month.
 */
export function parseDate(given: string): string | null {
  const text = given.slice(0, MAX_CHARACTERS).normalize('NFKC').replaceAll(/\s+/g, ' ').trim();
  if (EPOCH.test(text)) return utc(Number(text) * (text.length === 10 ? 1000 : 1));
  for (const [form, read] of FORMS) {
    const groups = form.exec(text);
    if (groups === null) continue;
    const [year = '', month = '', day = ''] = read(groups);
    const date = dateOf(Number(year), MONTH_OF.get(month.toLowerCase()) ?? Number(month), Number(day));
    return date === null ? null : withTime(date, text.slice(groups.index + groups[0].length));
  }
  return null;
}

/** Tells day and month apart when one of them can only be the day. */
function inOrder(one = '', other = '', year = ''): Found {
  if (one === other || Number(one) > 12) return [year, other, one];
  return Number(other) > 12 ? [year, one, other] : [year, '', ''];
}

function dateOf(year: number, month: number, day: number): string | null {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.toISOString().slice(0, 10) : null;
}

function withTime(date: string, rest: string): string | null {
  const [found, hours = '', minutes = '', seconds = '00', half, zone, offset] = TIME.exec(rest) ?? [];
  if (found === undefined) return date;
  const isLate = half?.toLowerCase() === 'p';
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (isLate ? 12 : 0);
  const time = `${String(hour).padStart(2, '0')}:${minutes}:${seconds}`;
  const ms = Date.parse(`${date}T${time}Z`);
  if (Number.isNaN(ms) || hour > 23) return null;
  if (zone === undefined && offset === undefined) return `${date}T${time}`;
  const [, sign = '+', offsetHours = '0', offsetMinutes = '0'] = /^([-+])(\d{2}):?(\d{2})$/.exec(offset ?? '') ?? [];
  const minutesAhead = Number(`${sign}1`) * (Number(offsetHours) * 60 + Number(offsetMinutes));
  return utc(ms - minutesAhead * 60_000);
}

function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
