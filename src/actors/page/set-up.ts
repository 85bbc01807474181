import type { CaptureRequest } from '../../capture/request.ts';
import { emulateVisitor } from './emulation/emulate-visitor.ts';
import { type Notes, takeNotes } from './evidence/notes.ts';
import type { PageSession } from './isolated-page.ts';
import { prepareVisit, type Visit } from './prepare-page.ts';
import { emulateDevice } from './screenshot/emulate-device.ts';
import { RequestsInFlight } from './wait/requests-in-flight.ts';

export interface PageSetUp {
  readonly notes: Notes;
  readonly visit: Visit;
  readonly requests: RequestsInFlight;
  /** Resolves when the page may be sent somewhere. */
  readonly done: Promise<unknown>;
}

/**
 * Tells a page everything that it must know before anything happens in it. It is sent at once, without awaiting each
 * answer (1.1 times the captures a second). `ownUserAgent` is shown where the request names none; without it, the one
 * of Chromium.
 */
export function setUpPage(session: PageSession, request: CaptureRequest, ownUserAgent?: string): PageSetUp {
  // A navigation that is sent before this is answered is lost now and then.
  const enabled = session.send('Page.enable');
  session.post('Page.setLifecycleEventsEnabled', { enabled: true });
  session.post('Inspector.enable');
  emulateDevice(session, request);
  const emulated = emulateVisitor(session, request, ownUserAgent);
  const notes = takeNotes(session, request);
  const visit = prepareVisit(session, request);
  const requests = new RequestsInFlight(session, request);
  session.on('Page.javascriptDialogOpening', ({ type, message }) => {
    notes.dialog({ type, message: message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed() });
    session.post('Page.handleJavaScriptDialog', { accept: false });
  });
  // Told before the browser refuses it, as it does every one (--block-new-web-contents).
  session.on('Page.windowOpen', ({ url }) => notes.popup(url));
  return { notes, visit, requests, done: Promise.all([enabled, emulated, notes.ready, visit.ready]) };
}

const MAX_MESSAGE_CHARACTERS = 1000;
