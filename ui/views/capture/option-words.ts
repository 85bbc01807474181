/*
 * The words of the form for options and their groups. An option without an entry is named by the words of its API name,
 * so a new option is usable at once.
 */

const GROUPS: Readonly<Record<string, string>> = {
  screenshot: 'What the screenshot shows',
  pdf: 'Paper of a PDF',
  wait: 'When the screenshot is taken',
  emulation: 'Who visits the page',
  network: 'Requests, logins and blocking',
  content: 'Scripts and styles added to the page',
  interaction: 'Clicks, typing and forms first',
  record: 'What is recorded, and reuse',
  target: 'HTML in place of a URL, time limit, callback',
};

const OPTIONS: Readonly<Record<string, string>> = {
  viewport: 'Window size',
  selector: 'Only this element',
  clip: 'Only this rectangle',
  resize: 'Scale down to fit (px)',
  omitBackground: 'Transparent background',
  hide: 'Hide elements',
  mask: 'Cover elements',
  format: 'File format',
  quality: 'Quality of JPEG and WebP',
  waitUntil: 'State of the page to wait for',
  waitForSelector: 'Wait for an element',
  waitForFunction: 'Wait for a condition (JavaScript)',
  delayMs: 'Wait longer (ms)',
  userAgent: 'User agent',
  media: 'Screen or print styles',
  locale: 'Language',
  timezone: 'Time zone',
  geolocation: 'Position',
  reducedMotion: 'Reduced motion',
  headers: 'Request headers',
  httpCredentials: 'User name and password (HTTP)',
  ignoreCertErrors: 'Accept invalid certificates',
  block: 'Block requests',
  javascript: 'JavaScript to run',
  css: 'Style sheet to add',
  html: 'HTML to capture in place of a URL',
  actions: 'Steps before the screenshot',
  form: 'Form to fill in',
  outputs: 'Files to make beside the image',
  har: 'What the HAR holds',
  extract: 'Values to find (rules as JSON)',
  evidence: 'Evidence to record',
  cacheMaxAgeMs: 'Reuse a capture up to this old (ms)',
  timeoutMs: 'Time limit (ms)',
  callback: 'URL to notify',
};

export function groupTitle(name: string): string {
  return GROUPS[name] ?? wordsOf(name);
}

/** Returns the label of an option, or of a field of one, by its API name. */
export function optionTitle(name: string): string {
  return OPTIONS[name] ?? wordsOf(name);
}

function wordsOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}
