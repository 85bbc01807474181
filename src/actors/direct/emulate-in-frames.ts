import type { CaptureRequest } from '../../capture/request.ts';
import type { CdpConnection, CdpSession } from '../cdp/connection.ts';
import { emulateVisitor } from '../page/emulation/emulate-visitor.ts';

/**
 * Shows the page's visitor to its frames of other sites. Each has a process and a session of its own, which the
 * overrides of the page do not reach, and is paused until it has them. `eachFrame` is called with the session of
 * each, before it runs.
 */
export function emulateInFrames(
  connection: CdpConnection,
  session: CdpSession,
  request: CaptureRequest,
  ownUserAgent: string | undefined,
  eachFrame: (session: CdpSession) => void,
): void {
  session.on('Target.attachedToTarget', ({ sessionId }) => {
    const frame = connection.session(sessionId);
    // Frames within frames are announced to the frame that holds them.
    emulateInFrames(connection, frame, request, ownUserAgent, eachFrame);
    eachFrame(frame);
    frame.post('Inspector.enable');
    showVisitor(frame, request, ownUserAgent);
  });
  session.post('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    filter: [{ type: 'iframe' }, { exclude: true }],
  });
}

/** Shows the page's visitor to a paused frame or worker of it, and lets it run. */
export function showVisitor(session: CdpSession, request: CaptureRequest, ownUserAgent: string | undefined): void {
  // One that is already gone again refuses everything.
  emulateVisitor(session, request, ownUserAgent).catch(() => undefined);
  session.post('Runtime.runIfWaitingForDebugger');
}
