import type { PageSession } from '../isolated-page.ts';
import type { InterceptionRule, PausedRequest } from '../network/intercept.ts';
import { viewerFile } from './viewer-files.ts';
import { VIEWER_HTML, VIEWER_ORIGIN, VIEWER_POLICY, type ViewerTask, viewerModule } from './viewer-page.ts';

/** What became of a document: it can be drawn, or why not. */
export type ViewerWord = 'opened' | 'encrypted' | 'damaged';

/** Answers what the viewer's page asks for. */
export class PdfViewer {
  readonly #session: PageSession;
  /** Gives the viewer one piece of the document after the other. */
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

  /** Puts the viewer in the place of the response that the document came with. */
  show({ requestId, responseStatusCode = 200 }: PausedRequest): void {
    this.#fulfil(requestId, responseStatusCode, 'text/html; charset=utf-8', VIEWER_HTML);
  }

  async #answer({ requestId, request }: PausedRequest): Promise<void> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/viewer.mjs') {
      return this.#fulfil(requestId, 200, 'text/javascript', viewerModule(this.#task));
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
   * A piece at a time: of all at once the event loop would be held for 6 ms a megabyte. The viewer asks for each once. Who
   * asks again is a page that came after it, from wherever, and has no business with it.
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
