import { createHash } from 'node:crypto';
import { bounded } from '../../capture/basics/bounded.ts';
import { type Deadline, within } from '../../capture/deadline.ts';
import type { CaptureRequest } from '../../capture/request.ts';
import type {
  Evidence,
  EvidenceKind,
  Noted,
  NotedDialog,
  NotedHeader,
  NotedRedirect,
} from '../../capture/result/evidence.ts';
import type { PageSession } from '../frames/page-session.ts';
import { ArchivedFiles } from './archived-files.ts';
import { notedCookies } from './cookies.ts';
import { notedFavicon } from './favicon.ts';
import { HarRecorder } from './har-recorder.ts';
import { notedLibraries } from './libraries.ts';
import { MainDocument } from './main-document.ts';
import { Messages } from './messages.ts';
import { networkBuffers } from './network-buffers.ts';
import { Requests } from './requests.ts';
import { Tally } from './tally.ts';

const MAX_DIALOGS = 20;
const MAX_POPUPS = 20;
const MAX_URL_CHARACTERS = 2048;
/**
 * Time limit for evidence that is fetched when the screenshot is taken, in milliseconds, and its share of the remaining
 * time.
 */
const GATHER_MS = 5_000;
const GATHER_SHARE = 0.5;

/** Collects evidence during a capture. Created before anything happens in the page. */
export interface Notes {
  /** Resolves when the browser reports all events; it may omit the requests of earlier navigations. */
  readonly ready: Promise<unknown>;
  dialog(dialog: NotedDialog): void;
  popup(url: string): void;
  /**
   * Returns the evidence at the time of the screenshot; asks the page only for the requested kinds. Leaves out evidence
   * that is not available in time, and rejects only when the capture is cancelled.
   */
  gather(mainFrameId: string, deadline: Deadline): Promise<Gathered>;
  /** Records the requests for the output `har`, and keeps files for `mhtml`; undefined unless they are asked for. */
  readonly har: HarRecorder | undefined;
  readonly files: ArchivedFiles | undefined;
  /** Records a frame or worker with a session of its own as well, which may have ended already. */
  follow(session: PageSession): void;
  /** Returns the evidence of a failed capture: recorded events, without asking the page. */
  readonly soFar: Evidence;
  /** The status of the last answer; undefined when the browser reported none. */
  readonly statusSoFar: number | undefined;
}

/** The evidence, and what it does not contain without being requested. */
export interface Gathered {
  readonly evidence: Evidence;
  /** Headers of the main document; null when the browser did not report them: without `Network.enable`. */
  readonly headers: readonly NotedHeader[] | null;
  /** Certificates of the main document's connection in Base64 (DER), its own first; none without TLS. */
  readonly chain: readonly string[];
}

/** Starts recording the requested kinds of evidence, and no others, because the browser's events cost time. */
export function takeNotes(session: PageSession, request: CaptureRequest): Notes {
  const { evidence = [], outputs = [], cookies: brought = [] } = request;
  const wants = (...kinds: readonly EvidenceKind[]): boolean => kinds.some((kind) => evidence.includes(kind));
  const dialogs = new Tally<NotedDialog>(MAX_DIALOGS);
  const popups = new Tally<string>(MAX_POPUPS);
  const main = new MainDocument(session);
  const requests = wants('network') ? new Requests(request) : undefined;
  const messages = wants('console') ? new Messages(session) : undefined;
  const har = outputs.includes('har') ? new HarRecorder(session, request) : undefined;
  const enabling: Promise<unknown>[] = [];
  const files = outputs.includes('mhtml') ? new ArchivedFiles(request) : undefined;
  const follow = (each: PageSession) =>
    [requests, har, files].flatMap((one) => (one === undefined ? [] : [one.follow(each)]));
  enabling.push(...follow(session));
  if (wants('redirects', 'headers', 'tls')) enabling.push(session.send('Network.enable', networkBuffers(request)));
  if (messages !== undefined) enabling.push(session.send('Runtime.enable'), session.send('Log.enable'));

  const noted = (
    { cookies, chain, favicon, libraries }: Fetched,
    redirects: Noted<NotedRedirect>,
    headers: Noted<NotedHeader>,
  ): Evidence => ({
    dialogs: dialogs.noted,
    popups: popups.noted,
    cookies,
    ...(wants('redirects') && { redirects }),
    ...(wants('headers') && { headers }),
    ...(wants('tls') && { tls: main.tls(chain, fingerprintOf(chain)) }),
    ...(messages !== undefined && { console: messages.noted }),
    ...(requests !== undefined && { network: requests.noted }),
    ...(favicon !== undefined && wants('favicon') && { favicon }),
    ...(libraries !== undefined && wants('libraries') && { libraries }),
  });

  return {
    har,
    files,
    follow: (each) => void Promise.all(follow(each)).catch(() => undefined),
    ready: Promise.all(enabling),
    dialog: (dialog) => dialogs.note(dialog),
    popup: (url) => popups.note(bounded(url, MAX_URL_CHARACTERS)),
    get soFar() {
      return noted(NOTHING_FETCHED, main.redirectsTried, main.headersTried);
    },
    get statusSoFar() {
      return main.statusTried;
    },
    gather: async (mainFrameId, deadline) => {
      const patienceMs = Math.min(GATHER_MS, deadline.remainingMs * GATHER_SHARE);
      const fetched = <T, F>(work: Promise<T>, fallback: F): Promise<T | F> =>
        within(
          patienceMs,
          work.catch(() => fallback),
          fallback,
        );
      const [cookies, chain, favicon, libraries] = await deadline.step(
        'gather the evidence',
        Promise.all([
          fetched(notedCookies(session, brought), NOTHING_FETCHED.cookies),
          fetched(main.chain(), NOTHING_FETCHED.chain),
          wants('favicon') ? fetched(notedFavicon(session, mainFrameId), null) : null,
          wants('libraries') ? fetched(notedLibraries(session), NOTHING_FETCHED.libraries) : undefined,
        ]),
      );
      const evidence = noted({ cookies, chain, favicon, libraries }, main.redirects, main.headers);
      return { evidence, headers: main.hasHeaders ? main.headers.items : null, chain };
    },
  };
}

/** Kinds of evidence that are read from the page at the time of the screenshot. */
interface Fetched extends Pick<Evidence, 'cookies' | 'favicon'> {
  readonly libraries: Evidence['libraries'];
  readonly chain: Gathered['chain'];
}

const NOTHING = { items: [], omitted: 0 };
const NOTHING_FETCHED: Fetched = { cookies: NOTHING, chain: [], favicon: null, libraries: NOTHING };

/** Returns the SHA-256 of the first certificate, in lower-case hex; `''` without one. */
function fingerprintOf([certificate]: Gathered['chain']): string {
  return certificate === undefined ? '' : createHash('sha256').update(certificate, 'base64').digest('hex');
}
