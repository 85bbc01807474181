import type { Protocol } from 'devtools-protocol';
import type { CaptureRequest } from '../../capture/request.ts';
import type { CdpConnection, CdpSession } from '../cdp/connection.ts';
import { emulateVisitor } from '../page/emulation/emulate-visitor.ts';

/**
 * Emulates the page's visitor in its cross-site frames and its workers. Each has a session of its own, which the overrides
 * of the page do not reach, and is paused until it has them. `eachFrame` is called with
 * each session and its target, before it runs.
 */
export function emulateInFrames(
  connection: CdpConnection,
  session: CdpSession,
  request: CaptureRequest,
  ownUserAgent: string | undefined,
  eachFrame: (session: CdpSession, target: Protocol.Target.TargetInfo) => void,
): void {
  session.on('Target.attachedToTarget', ({ sessionId, targetInfo }) => {
    const frame = connection.session(sessionId);
    // Frames within frames are announced to the frame that holds them.
    emulateInFrames(connection, frame, request, ownUserAgent, eachFrame);
    eachFrame(frame, targetInfo);
    frame.post('Inspector.enable');
    showVisitor(frame, request, ownUserAgent);
  });
  session.post('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: true,
    flatten: true,
    // Chromium pauses workers that the filter leaves out as well, and nothing would resume them.
    filter: [{ type: 'iframe' }, { type: 'worker' }, { exclude: true }],
  });
}

/** Emulates the visitor in a paused frame or worker, and resumes it. */
export function showVisitor(session: CdpSession, request: CaptureRequest, ownUserAgent: string | undefined): void {
  // A target that has already ended refuses every command.
  emulateVisitor(session, request, ownUserAgent).catch(() => undefined);
  session.post('Runtime.runIfWaitingForDebugger');
}
