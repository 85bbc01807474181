import type { CaptureRequest } from '../capture/request.ts';
import { emulateVisitor } from './emulation/emulate-visitor.ts';
import { type Notes, takeNotes } from './evidence/notes.ts';
import type { PageSession } from './frames/page-session.ts';
import { prepareVisit, type Visit } from './prepare-visit.ts';
import { emulateDevice } from './screenshot/emulate-device.ts';
import { RequestsInFlight } from './wait/requests-in-flight.ts';

export interface PageSetUp {
  readonly notes: Notes;
  readonly visit: Visit;
  readonly requests: RequestsInFlight;
  /** Resolves when the page may be navigated. */
  readonly done: Promise<unknown>;
}

/**
 * Sends a page everything that it needs before anything happens in it. Does not await each answer. Measured: 1.1 times
 * as many captures per second. `ownUserAgent` applies when the request names none; undefined keeps Chromium's own.
 */
export function setUpPage(session: PageSession, request: CaptureRequest, ownUserAgent?: string): PageSetUp {
  // A navigation that is sent before the answer to this command is sometimes lost.
  const enabled = session.send('Page.enable');
  session.post('Page.setLifecycleEventsEnabled', { enabled: true });
  session.post('Inspector.enable');
  emulateDevice(session, request.viewport);
  const emulated = emulateVisitor(session, request, ownUserAgent);
  const notes = takeNotes(session, request);
  const visit = prepareVisit(session, request);
  const requests = new RequestsInFlight(session, request);
  session.on('Page.javascriptDialogOpening', ({ type, message }) => {
    notes.dialog({ type, message: message.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed() });
    session.post('Page.handleJavaScriptDialog', { accept: false });
  });
  // Chromium sends this event before it refuses the popup. It refuses all popups (--block-new-web-contents).
  session.on('Page.windowOpen', ({ url }) => notes.popup(url));
  return { notes, visit, requests, done: Promise.all([enabled, emulated, notes.ready, visit.ready]) };
}

const MAX_MESSAGE_CHARACTERS = 1000;
