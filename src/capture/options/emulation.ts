import { z } from 'zod';
import { type Device, findDevice, nearestDevices } from './devices.ts';
import { flag, objectOf, quantity } from './fields.ts';
import { DEFAULT_VIEWPORT, type Viewport } from './screenshot.ts';

const MAX_NAME_CHARACTERS = 100;
const MAX_USER_AGENT_CHARACTERS = 512;
const MAX_ACCURACY_METRES = 1_000_000;
const DEFAULT_ACCURACY_METRES = 10;

const LOCALE = 'must be the BCP 47 tag of a language that is known, such as de-AT';
const TIMEZONE = 'must be an IANA time zone such as Europe/Vienna';
const NAMED = `must have at most ${MAX_NAME_CHARACTERS} characters`;

/** The device, the visitor's preferences and the place that the page is shown. */
export const emulationFields = {
  device: z
    .string({ error: 'must be the name of a device such as iPhone 15' })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .transform((name, context) => {
      const device = findDevice(name);
      if (device !== undefined) return device;
      context.addIssue({
        code: 'custom',
        message: `is not a device that is known; the nearest are ${nearestDevices(name).join(', ')}`,
      });
      return z.NEVER;
    })
    .optional()
    .meta({
      description:
        "The viewport and user agent of a device, by its name in Playwright's list; `viewport` and `userAgent` go before it.",
      examples: ['iPhone 15', 'Pixel 9', 'iPad Pro 11 landscape'],
    }),
  userAgent: z
    .string({ error: 'must be a string' })
    .min(1, { error: 'must not be empty' })
    .max(MAX_USER_AGENT_CHARACTERS, { error: `must have at most ${MAX_USER_AGENT_CHARACTERS} characters` })
    .regex(/^[\x20-\x7e]*$/, { error: 'must have printable ASCII characters only' })
    .optional()
    .meta({ description: 'The value of `User-Agent` and `navigator.userAgent`.' }),
  darkMode: flag.default(false).meta({ description: 'The page is told that its visitor prefers dark colours.' }),
  reducedMotion: flag.default(false).meta({ description: 'The page is told that its visitor prefers less motion.' }),
  locale: z
    .string({ error: LOCALE })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .transform(reading(baseLocale, LOCALE))
    .optional()
    .meta({
      description: 'The language that is asked for, and that numbers and dates are written in: a BCP 47 tag.',
      examples: ['de-AT'],
    }),
  timezone: z
    .string({ error: TIMEZONE })
    .max(MAX_NAME_CHARACTERS, { error: NAMED, abort: true })
    .transform(reading(timeZone, TIMEZONE))
    .optional()
    .meta({ description: "The page's time zone: an IANA name.", examples: ['Europe/Vienna'] }),
  geolocation: objectOf(
    {
      latitude: quantity('degrees', -90, 90),
      longitude: quantity('degrees', -180, 180),
      accuracy: quantity('metres', 0, MAX_ACCURACY_METRES)
        .default(DEFAULT_ACCURACY_METRES)
        .meta({ description: 'Metres.' }),
    },
    'a geolocation',
    'an object of latitude, longitude and, if wanted, accuracy',
  )
    .optional()
    .meta({ description: 'Where the page is told it is, when it asks; without it the answer is no.' }),
};

interface Emulated {
  readonly device?: Device | undefined;
  readonly viewport?: Viewport | undefined;
  readonly userAgent?: string | undefined;
}

/** The viewport and user agent: the request's own, else its device's, else the viewport's default. */
export function withDevice<T extends Emulated>({ device, ...written }: T) {
  const userAgent = written.userAgent ?? device?.userAgent;
  return { ...written, viewport: written.viewport ?? device?.viewport ?? DEFAULT_VIEWPORT, userAgent };
}

/** What `read` makes of a text, or that issue where it throws. */
function reading(read: (text: string) => string, problem: string) {
  return (text: string, context: z.RefinementCtx): string => {
    try {
      return read(text);
    } catch {
      context.addIssue({ code: 'custom', message: problem });
      return z.NEVER;
    }
  };
}

/** Without extensions (`-u-nu-latn`), which Chromium does not take. */
function baseLocale(text: string): string {
  const { baseName } = new Intl.Locale(text);
  if (Intl.DateTimeFormat.supportedLocalesOf(baseName).length === 0) throw new RangeError(text);
  return baseName;
}

function timeZone(text: string): string {
  // Node takes offsets (`+01:00`) as well, Chromium does not.
  if (!/^[a-z]/i.test(text)) throw new RangeError(text);
  return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
}
