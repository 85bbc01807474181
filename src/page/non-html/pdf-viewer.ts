import { randomUUID } from 'node:crypto';
import type { Protocol } from 'devtools-protocol';
import type { ViewerTask } from '../../page-scripts/pdf/viewer-task.ts';
import { call } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';
import type { InterceptionRule, PausedRequest } from '../network/intercept.ts';
import { viewerFile } from './viewer-files.ts';
import { VIEWER_ORIGIN, VIEWER_POLICY, viewerHtml } from './viewer-page.ts';

const HTML = 'text/html; charset=utf-8';

/** Whether a document can be drawn, or why not. */
export type ViewerWord = 'opened' | 'encrypted' | 'damaged';

/**
 * Answers the requests of one viewer page. They begin with a base that no other document knows, so that none can read
 * the PDF of a frame.
 */
export class PdfViewer {
  readonly #session: PageSession;
  readonly #base = `${VIEWER_ORIGIN}/${randomUUID()}`;
  /** The parts that the viewer page has not received. */
  readonly #document: Buffer[];
  readonly #task: ViewerTask;
  readonly #said = Promise.withResolvers<ViewerWord>();
  readonly #done = Promise.withResolvers<void>();

  /** `document`: parts of the PDF; the viewer takes them out, so that none stays in memory. */
  constructor(session: PageSession, document: Buffer[], task: ViewerTask) {
    this.#session = session;
    this.#document = document;
    this.#task = task;
  }

  /** Resolves when it is known whether the document can be drawn. */
  get word(): Promise<ViewerWord> {
    return this.#said.promise;
  }

  /** Resolves when the document is drawn, or cannot be. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** Ends the viewer, also one whose page never ran. */
  close(): void {
    this.#document.length = 0;
    this.#done.resolve();
  }

  /** Returns the rule that answers the viewer's requests in the session of its process. */
  ruleIn(session: PageSession): InterceptionRule {
    return {
      patterns: [{ urlPattern: `${VIEWER_ORIGIN}/*`, requestStage: 'Request' }],
      judge: (paused) => {
        if (!paused.request.url.startsWith(`${this.#base}/`)) return undefined;
        void this.#answer(session, paused);
        return { verdict: 'own' };
      },
    };
  }

  /** The URL of the viewer page, for a document without a response that it can replace. */
  get url(): string {
    return `${this.#base}/`;
  }

  /** Replaces the response of the document with the viewer page. */
  show({ requestId, responseStatusCode = 200, responseHeaders = [] }: PausedRequest): void {
    const framing = responseHeaders.flatMap(framingHeader);
    fulfil(this.#session, requestId, responseStatusCode, HTML, viewerHtml(this.#base), framing);
  }

  async #answer(session: PageSession, { requestId, request }: PausedRequest): Promise<void> {
    const { pathname: path, searchParams } = new URL(request.url);
    const pathname = path.slice(this.#base.length - VIEWER_ORIGIN.length);
    if (pathname === '/') return fulfil(session, requestId, 200, HTML, viewerHtml(this.#base));
    if (pathname === '/viewer.mjs') {
      return fulfil(session, requestId, 200, 'text/javascript', call('viewPdf', this.#base, this.#task));
    }
    if (pathname === '/document') return this.#hand(session, requestId);
    if (pathname === '/done.js') {
      await this.#done.promise;
      return fulfil(session, requestId, 200, 'text/javascript', '');
    }
    if (pathname === '/says') {
      this.#hear(searchParams.get('word'));
      return fulfil(session, requestId, 204, 'text/plain', '');
    }
    const file = await viewerFile(pathname);
    if (file === undefined) return fulfil(session, requestId, 404, 'text/plain', '');
    fulfil(session, requestId, 200, file.type, file.body);
  }

  /**
   * Sends one part at a time, because sending the whole document at once would block the event loop for 6 ms per
   * megabyte. The viewer requests each part once, so a repeated request comes from another page and is refused.
   */
  #hand(session: PageSession, requestId: string): void {
    const piece = this.#document.shift();
    if (piece === undefined) fulfil(session, requestId, 404, 'text/plain', '');
    else fulfil(session, requestId, 200, 'application/pdf', piece);
  }

  #hear(word: string | null): void {
    if (word !== 'opened') this.close();
    if (word !== 'drawn') this.#said.resolve(word === 'opened' || word === 'encrypted' ? word : 'damaged');
  }
}

function fulfil(
  session: PageSession,
  requestId: string,
  responseCode: number,
  type: string,
  body: string | Buffer,
  others: readonly Protocol.Fetch.HeaderEntry[] = [],
): void {
  session.post('Fetch.fulfillRequest', {
    requestId,
    responseCode,
    responseHeaders: [
      { name: 'content-type', value: type },
      { name: 'content-security-policy', value: VIEWER_POLICY },
      { name: 'access-control-allow-origin', value: '*' },
      ...others,
    ],
    body: Buffer.from(body).toString('base64'),
  });
}

/** Returns the header, if any, by which a response with this one says who may frame it. */
function framingHeader({ name, value }: Protocol.Fetch.HeaderEntry): Protocol.Fetch.HeaderEntry[] {
  if (/^x-frame-options$/i.test(name)) return [{ name, value }];
  if (!/^content-security-policy$/i.test(name)) return [];
  const directives = value.split(/[;,]/).filter((directive) => /^\s*frame-ancestors\b/i.test(directive));
  return directives.map((directive) => ({ name, value: directive }));
}
