import type { CaptureRequest } from '../../capture/request.ts';
import { call } from '../asking/page-scripts.ts';
import type { PageSession } from '../frames/page-session.ts';
import { isNotChromium, userAgentOverride } from './user-agent.ts';

/** Number of touch points, as on phones. */
const TOUCH_POINTS = 5;

/**
 * Emulates the visitor that the request describes, in a page or in a frame with a process of its own. Sends commands
 * only for the options that are set. Resolves when Chromium has accepted all of them, and rejects with a `CdpError`
 * when it refuses one.
 */
export function emulateVisitor(
  session: PageSession,
  request: CaptureRequest,
  ownUserAgent: string | undefined,
): Promise<unknown> {
  const { locale, timezone, geolocation, media } = request;
  const override = userAgentOverride(request, ownUserAgent);
  const sent: Promise<unknown>[] = [session.send('Emulation.setUserAgentOverride', override)];
  // In the world of each document's own scripts, before them. Workers refuse this command.
  const source = call('removeClientHints');
  if (isNotChromium(override)) session.post('Page.addScriptToEvaluateOnNewDocument', { source });
  if (locale !== undefined) sent.push(session.send('Emulation.setLocaleOverride', { locale }));
  if (timezone !== undefined) sent.push(session.send('Emulation.setTimezoneOverride', { timezoneId: timezone }));
  if (geolocation !== undefined) sent.push(session.send('Emulation.setGeolocationOverride', { ...geolocation }));
  const features = mediaFeatures(request);
  if (features.length > 0 || media !== undefined) {
    sent.push(session.send('Emulation.setEmulatedMedia', { features, ...(media !== undefined && { media }) }));
  }
  if (request.viewport.touch) {
    sent.push(session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: TOUCH_POINTS }));
  }
  return Promise.all(sent);
}

/** Returns the visitor's preferences as media features. */
export function mediaFeatures({ darkMode, reducedMotion }: CaptureRequest): { name: string; value: string }[] {
  return [
    ...(darkMode ? [{ name: 'prefers-color-scheme', value: 'dark' }] : []),
    ...(reducedMotion ? [{ name: 'prefers-reduced-motion', value: 'reduce' }] : []),
  ];
}
