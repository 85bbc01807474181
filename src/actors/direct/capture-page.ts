import type { CaptureRequest, Snapshot } from '../../domain.ts';
import type { EgressLane } from '../../egress/egress.ts';
import { CapstanError } from '../../errors.ts';
import type { BrowserHost } from '../browser-host.ts';
import type { Deadline } from '../deadline.ts';
import { awaitLoad, navigate } from './navigate.ts';
import { type DocumentFacts, observeDocument } from './observe-document.ts';
import { type IsolatedPage, openPage } from './open-page.ts';
import { takePicture } from './take-picture.ts';

/** Redirects by script or by refresh that are followed; a page that goes on and on is taken where it is then. */
const MAX_DOCUMENTS = 20;

/** A capture and its aftermath: `disposed` resolves when the browser holds nothing of it any more. */
export interface PageCapture {
  readonly snapshot: Promise<Snapshot>;
  readonly disposed: Promise<void>;
}

/** One capture, step by step, on a page of its own. The page is disposed of in every case. */
export function capturePage(
  host: BrowserHost,
  lane: EgressLane,
  request: CaptureRequest,
  deadline: Deadline,
): PageCapture {
  const opening = openPage(host, lane.proxyServer);
  const snapshot = deadline.step('open a page', opening).then((page) => look(page, lane, request, deadline));
  const disposed = snapshot
    .then(
      () => opening,
      () => opening,
    )
    .then((page) => page.dispose())
    // There is no page to dispose of when it could not be opened.
    .catch(() => undefined);
  return { snapshot, disposed };
}

async function look(
  page: IsolatedPage,
  lane: EgressLane,
  request: CaptureRequest,
  deadline: Deadline,
): Promise<Snapshot> {
  await navigate(page, lane, request.url, deadline);
  const { loaded, facts } = await awaitDocument(page, lane, deadline);
  const { interrupted, ...document } = facts;
  const { held, ...picture } = await takePicture(page, request, deadline);
  return {
    ...document,
    ...picture,
    partial: !loaded || interrupted || held,
    remoteIp: URL.canParse(facts.finalUrl) ? lane.addressFor(new URL(facts.finalUrl)) : null,
  };
}

/** The document that the page comes to rest on, wherever it sends itself first. */
async function awaitDocument(
  page: IsolatedPage,
  lane: EgressLane,
  deadline: Deadline,
): Promise<{ loaded: boolean; facts: DocumentFacts }> {
  for (let documents = 1; documents <= MAX_DOCUMENTS; documents += 1) {
    const loaded = await awaitLoad(page, lane, deadline);
    const facts = await observeDocument(page, deadline, { loaded });
    const rested = page.frame.loaded || !loaded || documents === MAX_DOCUMENTS;
    if (facts !== undefined && rested) return { loaded, facts };
  }
  throw new CapstanError('target_unreachable', 'the page sends itself on and on');
}
