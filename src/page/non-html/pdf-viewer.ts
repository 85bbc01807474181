import type { ViewerTask } from '../../page-scripts/pdf/viewer-task.ts';
import type { InterceptionRule, PausedRequest } from '../network/intercept.ts';
import { call } from '../page-scripts.ts';
import type { PageSession } from '../page-session.ts';
import { viewerFile } from './viewer-files.ts';
import { VIEWER_HTML, VIEWER_ORIGIN, VIEWER_POLICY } from './viewer-page.ts';

/** Whether a document can be drawn, or why not. */
export type ViewerWord = 'opened' | 'encrypted' | 'damaged';

/** Answers the requests of the viewer page. */
export class PdfViewer {
  readonly #session: PageSession;
  /** Gives the viewer the next part of the document. */
  readonly #document: Iterator<Buffer>;
  readonly #task: ViewerTask;
  readonly #said = Promise.withResolvers<ViewerWord>();
  readonly #drawn = Promise.withResolvers<void>();

  constructor(session: PageSession, document: Iterable<Buffer>, task: ViewerTask) {
    this.#session = session;
    this.#document = document[Symbol.iterator]();
    this.#task = task;
  }

  /** Resolves when it is known whether the document can be drawn. */
  get word(): Promise<ViewerWord> {
    return this.#said.promise;
  }

  readonly rule: InterceptionRule = {
    patterns: [{ urlPattern: `${VIEWER_ORIGIN}/*`, requestStage: 'Request' }],
    judge: (paused) => {
      if (!paused.request.url.startsWith(`${VIEWER_ORIGIN}/`)) return undefined;
      void this.#answer(paused);
      return { verdict: 'own' };
    },
  };

  /** Replaces the response of the document with the viewer page. */
  show({ requestId, responseStatusCode = 200 }: PausedRequest): void {
    this.#fulfil(requestId, responseStatusCode, 'text/html; charset=utf-8', VIEWER_HTML);
  }

  async #answer({ requestId, request }: PausedRequest): Promise<void> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/viewer.mjs') {
      return this.#fulfil(requestId, 200, 'text/javascript', call('view-pdf', VIEWER_ORIGIN, this.#task));
    }
    if (pathname === '/document') return this.#hand(requestId);
    if (pathname === '/done.js') {
      await this.#drawn.promise;
      return this.#fulfil(requestId, 200, 'text/javascript', '');
    }
    if (pathname === '/says') {
      this.#hear(searchParams.get('word'));
      return this.#fulfil(requestId, 204, 'text/plain', '');
    }
    const file = await viewerFile(pathname);
    if (file === undefined) return this.#fulfil(requestId, 404, 'text/plain', '');
    this.#fulfil(requestId, 200, file.type, file.body);
  }

  /**
   * Sends one part at a time, because sending the whole document at once would block the event loop for 6 ms per
   * megabyte. The viewer requests each part once, so a repeated request comes from another page and is refused.
   */
  #hand(requestId: string): void {
    const piece = this.#document.next();
    if (piece.done) this.#fulfil(requestId, 404, 'text/plain', '');
    else this.#fulfil(requestId, 200, 'application/pdf', piece.value);
  }

  #hear(word: string | null): void {
    if (word === 'drawn') this.#drawn.resolve();
    else this.#said.resolve(word === 'opened' || word === 'encrypted' ? word : 'damaged');
  }

  #fulfil(requestId: string, responseCode: number, type: string, body: string | Buffer): void {
    this.#session.post('Fetch.fulfillRequest', {
      requestId,
      responseCode,
      responseHeaders: [
        { name: 'content-type', value: type },
        { name: 'content-security-policy', value: VIEWER_POLICY },
        { name: 'access-control-allow-origin', value: '*' },
      ],
      body: Buffer.from(body).toString('base64'),
    });
  }
}
