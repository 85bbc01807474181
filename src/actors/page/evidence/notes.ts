import type { Evidence, EvidenceKind, Noted, NotedDialog, NotedRedirect } from '../../../capture/evidence.ts';
import type { CaptureRequest } from '../../../capture/request.ts';
import { type Deadline, within } from '../../deadline.ts';
import type { IsolatedPage, PageSession } from '../isolated-page.ts';
import { bounded } from './bounded.ts';
import { notedCookies } from './cookies.ts';
import { notedFavicon } from './favicon.ts';
import { MainDocument } from './main-document.ts';
import { Messages } from './messages.ts';
import { Requests } from './requests.ts';
import { Tally } from './tally.ts';

const MAX_DIALOGS = 20;
const MAX_POPUPS = 20;
const MAX_URL_CHARACTERS = 2048;
/** Longest that is waited for what has to be fetched when the screenshot is taken, and the share of what time is left. */
const GATHER_MS = 5_000;
const GATHER_SHARE = 0.5;

/** What is noted of a capture while it goes on. Made before anything happens in the page. */
export interface Notes {
  /** Resolves when the browser tells of everything: of a navigation before that it may leave the requests out. */
  readonly ready: Promise<unknown>;
  dialog(dialog: NotedDialog): void;
  popup(url: string): void;
  /**
   * What is there at the time of the screenshot; asks the page only for what the request wants. What cannot be had, or not
   * in time, is missing from it: rejects only when the capture is cancelled.
   */
  gather(page: IsolatedPage, deadline: Deadline): Promise<Evidence>;
  /** What a capture that fails leaves: what was heard, without what the page would have to be asked for. */
  readonly soFar: Evidence;
}

/** Begins to listen for what the request wants: what the browser tells of costs something from then on. */
export function takeNotes(session: PageSession, { evidence = [], cookies: brought = [] }: CaptureRequest): Notes {
  const wants = (...kinds: readonly EvidenceKind[]): boolean => kinds.some((kind) => evidence.includes(kind));
  const dialogs = new Tally<NotedDialog>(MAX_DIALOGS);
  const popups = new Tally<string>(MAX_POPUPS);
  const main = wants('redirects', 'headers', 'tls') ? new MainDocument(session) : undefined;
  const requests = wants('network') ? new Requests(session) : undefined;
  const messages = wants('console') ? new Messages(session) : undefined;
  const enabling: Promise<unknown>[] = [];
  if (main !== undefined || requests !== undefined) enabling.push(session.send('Network.enable', KEEP_NO_BODIES));
  if (messages !== undefined) enabling.push(session.send('Runtime.enable'), session.send('Log.enable'));

  const noted = (
    { cookies, fingerprint, favicon }: Fetched,
    redirects: Noted<NotedRedirect> | undefined,
  ): Evidence => ({
    dialogs: dialogs.noted,
    popups: popups.noted,
    cookies,
    ...(redirects !== undefined && wants('redirects') && { redirects }),
    ...(main !== undefined && wants('headers') && { headers: main.headers }),
    ...(main !== undefined && wants('tls') && { tls: main.tls(fingerprint) }),
    ...(messages !== undefined && { console: messages.noted }),
    ...(requests !== undefined && { network: requests.noted }),
    ...(favicon !== undefined && wants('favicon') && { favicon }),
  });

  return {
    ready: Promise.all(enabling),
    dialog: (dialog) => dialogs.note(dialog),
    popup: (url) => popups.note(bounded(url, MAX_URL_CHARACTERS)),
    get soFar() {
      return noted(NOTHING_FETCHED, main?.redirectsTried);
    },
    gather: async (page, deadline) => {
      const patienceMs = Math.min(GATHER_MS, deadline.remainingMs * GATHER_SHARE);
      const fetched = <T, F>(work: Promise<T>, fallback: F): Promise<T | F> =>
        within(
          patienceMs,
          work.catch(() => fallback),
          fallback,
        );
      const [cookies, fingerprint, favicon] = await deadline.step(
        'gather the evidence',
        Promise.all([
          fetched(notedCookies(session, brought), NOTHING_FETCHED.cookies),
          main !== undefined && wants('tls') ? fetched(main.fingerprint(), '') : '',
          wants('favicon') ? fetched(notedFavicon(page), null) : null,
        ]),
      );
      return noted({ cookies, fingerprint, favicon }, main?.redirects);
    },
  };
}

/** What the page has to be asked for. */
interface Fetched extends Pick<Evidence, 'cookies' | 'favicon'> {
  /** Of the certificate. */
  readonly fingerprint: string;
}

const NOTHING_FETCHED: Fetched = { cookies: { items: [], omitted: 0 }, fingerprint: '', favicon: null };
/** Nobody will ask for them. */
const KEEP_NO_BODIES = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };
