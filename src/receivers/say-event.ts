import type { CapstanEvent, EventType } from '../capture/events.ts';
import type { WatchRun } from '../capture/work/watch.ts';
import type { EventFields } from './event-fields.ts';
import type { Notice } from './notice.ts';
import { capturesOf, imagesOf, linksOf, type NoticeSources } from './notice-parts.ts';
import { isolated } from './transports/plain-text.ts';

/* An event becomes a notice. */

interface Said {
  readonly sentence: string;
  readonly isProblem?: boolean;
}

const failed =
  (what: string) =>
  (event: EventFields): Said => ({
    sentence: `${what}: ${whyOf(event)}`,
    isProblem: true,
  });
const news = (sentence: string) => (): Said => ({ sentence });
const titled =
  (what: string) =>
  (event: EventFields): Said => ({ sentence: `${what}${titleIn(event)}` });

type EventOf = { readonly [T in EventType]: Extract<CapstanEvent, { type: T }> };

const SAID: { readonly [T in EventType]: (event: EventOf[T]) => Said } = {
  'capture.queued': news('A capture was admitted'),
  'capture.started': news('A capture has started'),
  'capture.stored': titled('A capture was stored'),
  'capture.failed': failed('The capture failed'),
  'capture.timed_out': failed('The capture did not end in time'),
  'capture.cancelled': failed('The capture was cancelled'),
  'capture.rejected': failed('The capture was refused'),
  'capture.reused': titled('An earlier capture was the answer'),
  'capture.marked': ({ by }) => ({ sentence: `Labels or the note of a capture were changed${byWhom(by)}` }),
  'capture.held': ({ by }) => ({ sentence: `A capture is kept whatever the limits say${byWhom(by)}` }),
  'capture.released': ({ by }) => ({ sentence: `A capture is no longer kept whatever the limits say${byWhom(by)}` }),
  'batch.accepted': ({ size }) => ({ sentence: `${captures(size)} were accepted` }),
  'batch.progress': ({ size, done, failed }) => ({
    sentence: `${done} of ${captures(size)} have ended, ${failed} failed`,
  }),
  'batch.completed': ({ size, failed }) => ({
    sentence: `All of ${captures(size)} have ended, ${failed === 0 ? 'none' : failed} failed`,
    isProblem: failed > 0 && failed === size,
  }),
  'watch.run': news('The page was captured and compared'),
  'watch.changed': ({ run }) => ({ sentence: sayChange(run) }),
  'watch.failed': failed('The page cannot be captured any more'),
  'watch.recovered': news('The page can be captured again'),
  'browser.launched': news('A browser was started'),
  'browser.retired': ({ reason }) => ({ sentence: `A browser was replaced: ${isolated(reason)}` }),
  'browser.crashed': failed('A browser ended unexpectedly'),
  'pressure.changed': ({ accepting, degraded, reason }) => {
    if (!accepting) return { sentence: `The service admits no captures: ${isolated(reason)}`, isProblem: true };
    if (degraded.length === 0) return { sentence: 'The service works as usual again' };
    return { sentence: 'The database cannot be used: new captures wait on the disk', isProblem: true };
  },
  'message.delivered': ({ receiver }) => ({ sentence: `${isolated(receiver)} took a message` }),
  'message.failed': ({ receiver, reason }) => ({
    sentence: `A message to ${isolated(receiver)} was given up: ${isolated(reason)}`,
    isProblem: true,
  }),
};

/** Makes the notice of an event, as the JSON that subscribers receive. */
export async function sayEvent(body: string, sources: NoticeSources): Promise<Notice> {
  const event: CapstanEvent = JSON.parse(body);
  const facts: EventFields = event;
  const { sentence, isProblem = false } = saidOf(event.type, event);
  const captures = capturesOf(facts);
  const shared = captures && (await sources.share(captures, facts.api_key_name ?? null).catch(() => null));
  return {
    about: aboutOf(facts),
    sentence,
    isProblem,
    facts: [
      { label: 'Labels', text: (facts.labels ?? []).map(isolated).join(', ') },
      { label: 'Time', text: (facts.at ?? '').replace('T', ' ').replace(/:\d\d\.\d+Z$/, ' UTC') },
    ].filter((fact) => fact.text !== ''),
    links: linksOf(facts, captures, sources.publicUrl, shared),
    images: imagesOf(captures, sources, shared),
  };
}

/** Says what an event tells, in a sentence. */
export function sentenceOf(event: CapstanEvent): string {
  return saidOf(event.type, event).sentence;
}

/** Returns the bare type for events of other versions of the service, which may have other types and lack fields. */
function saidOf<T extends EventType>(type: T, event: EventOf[T]): Said {
  try {
    if (Object.hasOwn(SAID, type)) return SAID[type](event);
  } catch {
    // A field is missing.
  }
  return { sentence: isolated(type) };
}

/** `shop.example/lamps` */
function aboutOf({ url = '', batch = null }: EventFields): string {
  const page = URL.parse(url);
  if (page !== null) return isolated(`${page.host}${page.pathname.replace(/\/$/, '')}${page.search}`).slice(0, 300);
  return batch === null ? 'Capstan' : `Batch ${isolated(batch)}`;
}

function whyOf({ failure, run, reason }: EventFields): string {
  const why = isolated(failure?.reason || run?.reason || reason || '');
  if (why !== '') return why;
  return run?.verdict ? `the page is ${run.verdict.replace('_', ' ')}` : 'for no known reason';
}

function titleIn({ result }: EventFields): string {
  const title = isolated(result?.title ?? '').replace(/[\u201c\u201d]/g, '"');
  return title === '' ? '' : `: \u201c${title}\u201d`;
}

function byWhom(name: string): string {
  return name === '' ? '' : ` by ${isolated(name)}`;
}

function captures(size: number): string {
  return size === 1 ? '1 capture' : `${size} captures`;
}

const and = new Intl.ListFormat('en', { type: 'conjunction' });

/** Parts of a page, as sentences name them. */
const PARTS: Readonly<Record<string, string>> = {
  text: 'the text',
  links: 'the links',
  elements: 'the watched elements',
  status: 'the HTTP status',
  title: 'the title',
};

/** Says what a run of a watch found: `Price fell from €59.00 to €47.50`, `2 regions changed, 3 % of the image`. */
function sayChange({ changed, share, regions, verdict, reason }: WatchRun): string {
  const parts = [
    ...(changed.includes('values') && reason !== null ? [isolated(reason)] : []),
    ...(changed.includes('visual') ? [sayRegions(regions.length, share)] : []),
    ...(changed.includes('verdict') ? [`the page is now ${(verdict ?? 'unknown').replace('_', ' ')}`] : []),
  ];
  const others = changed.flatMap((name) => PARTS[name] ?? []);
  if (others.length > 0) parts.push(`${and.format(others)} changed`);
  const sentence = parts.length === 0 ? 'the page has changed' : parts.join('; ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function sayRegions(count: number, share: number | null): string {
  const regions = count === 0 ? 'the image changed' : count === 1 ? '1 region changed' : `${count} regions changed`;
  if (share === null) return regions;
  const percent = share * 100;
  const shown =
    percent < 0.1 ? 'less than 0.1' : percent < 10 ? String(Number(percent.toFixed(1))) : percent.toFixed(0);
  return `${regions}, ${shown} % of the image`;
}
