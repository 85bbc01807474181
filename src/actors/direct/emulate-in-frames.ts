import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import type { CdpConnection, CdpSession } from '../../cdp/connection.ts';
import { emulateVisitor } from '../../page/emulation/emulate-visitor.ts';

/**
 * Emulates the visitor in the page's cross-site frames and workers. Each has its own session, to which the page's
 * overrides do not apply, and stays paused until it has received its own. `eachFrame` is called for each of these
 * frames and workers before it runs, with its session and target, and the session of the process around it.
 */
export function emulateInFrames(
  connection: CdpConnection,
  session: CdpSession,
  request: CaptureRequest,
  ownUserAgent: string | undefined,
  eachFrame: (session: CdpSession, target: Protocol.Target.TargetInfo, around: CdpSession) => void,
): void {
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    const frame = connection.session(sessionId);
    // Nested frames are announced to the session of their parent.
    emulateInFrames(connection, frame, request, ownUserAgent, eachFrame);
    eachFrame(frame, targetInfo, session);
    frame.post('Inspector.enable');
    showVisitor(frame, request, ownUserAgent);
  });
  session.post('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    // Chromium also pauses workers that the filter excludes, and nothing else would resume them.
    filter: [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }],
  });
}

/** Emulates the visitor in a paused frame or worker, and resumes it. */
export function showVisitor(session: CdpSession, request: CaptureRequest, ownUserAgent: string | undefined): void {
  // A target that has already ended refuses every command.
  emulateVisitor(session, request, ownUserAgent).catch(() => undefined);
  session.post('Runtime.runIfWaitingForDebugger');
}
