import type { CaptureRequest } from '../../../capture/request.ts';
import type { PageSession } from '../isolated-page.ts';
import { userAgentOverride } from './user-agent.ts';

/** Fingers that a touch screen feels at once, as phones have it. */
const TOUCH_POINTS = 5;

/**
 * Shows the page, or a frame of it that has a process of its own, the visitor that the request describes. Commands are
 * sent only for the options that it sets. Resolves when Chromium has taken all of them, and rejects with a `CdpError`
 * when it refuses one.
 */
export function emulateVisitor(
  session: PageSession,
  request: CaptureRequest,
  ownUserAgent: string | undefined,
): Promise<unknown> {
  const { locale, timezone, geolocation, media } = request;
  const sent: Promise<unknown>[] = [];
  const override = userAgentOverride(request, ownUserAgent);
  if (override !== undefined) sent.push(session.send('Emulation.setUserAgentOverride', override));
  if (locale !== undefined) sent.push(session.send('Emulation.setLocaleOverride', { locale }));
  if (timezone !== undefined) sent.push(session.send('Emulation.setTimezoneOverride', { timezoneId: timezone }));
  if (geolocation !== undefined) sent.push(session.send('Emulation.setGeolocationOverride', { ...geolocation }));
  const features = mediaFeatures(request);
  if (features.length > 0 || media !== 'screen') {
    sent.push(session.send('Emulation.setEmulatedMedia', { features, ...(media !== 'screen' && { media }) }));
  }
  if (request.viewport.touch) {
    sent.push(session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: TOUCH_POINTS }));
  }
  return Promise.all(sent);
}

/** What the visitor prefers, as media queries ask for it. */
function mediaFeatures({ darkMode, reducedMotion }: CaptureRequest): { name: string; value: string }[] {
  return [
    ...(darkMode ? [{ name: 'prefers-color-scheme', value: 'dark' }] : []),
    ...(reducedMotion ? [{ name: 'prefers-reduced-motion', value: 'reduce' }] : []),
  ];
}
