/*
 * Labels of a capture's options, shown as badges by the web interface and by exported pages. Without imports, because
 * browsers load it, too.
 */

interface MadeWith {
  readonly options: Readonly<Record<string, unknown>>;
  readonly options_withheld: readonly string[];
}

type Label = (value: unknown) => string;

/** Labels of the options that change most what a capture shows, in the order in which they are shown. */
const LABELS: ReadonlyMap<string, Label> = new Map<string, Label>([
  ['device', String],
  ['viewport', size],
  ['fullPage', () => 'full page'],
  ['selector', (selector) => `element ${selector}`],
  ['clip', size],
  ['darkMode', () => 'dark'],
  ['format', String],
  ['media', String],
  ['locale', String],
  ['timezone', String],
  ['acceptCookieBanners', () => 'cookies accepted'],
  ['rejectCookieBanners', () => 'cookies rejected'],
  ['blockAds', () => 'no ads'],
  ['reducedMotion', () => 'reduced motion'],
  ['hideFixed', () => 'no fixed elements'],
  ['hideChats', () => 'no chats'],
  ['hidePopups', () => 'no popups'],
  ['animations', () => 'no animations'],
  ['isolation', () => 'shared with its batch'],
  ['omitBackground', () => 'transparent'],
]);

/** Returns a short text for each option that a capture was requested with, the most visible ones first. */
export function optionLabels({ options, options_withheld }: MadeWith): readonly string[] {
  // Evidence and the deadline change no screenshot.
  const isShown = (name: string) => !LABELS.has(name) && name !== 'evidence' && name !== 'timeoutMs';
  const known = [...LABELS].flatMap(([name, label]) => (name in options ? [label(options[name])] : []));
  const others = [...Object.entries(options), ...options_withheld.map((name) => [name, undefined] as const)]
    .filter(([name]) => isShown(name))
    .map(([name, value]) => otherLabel(words(name), value));
  return [...known, ...others];
}

function otherLabel(name: string, value: unknown): string {
  return typeof value === 'number' ? `${name} ${value}` : name;
}

/** Returns the words of an option's name: `hide`, `wait for selector`. */
function words(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function size(value: unknown): string {
  const { width = '?', height = '?' } = Object(value);
  return `${width} × ${height}`;
}
