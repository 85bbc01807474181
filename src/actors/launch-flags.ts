export interface FlagOptions {
  readonly profileDir: string;
  readonly sandbox: boolean;
  /** Whether pages are told that the browser is automated (`navigator.webdriver`). */
  readonly honest: boolean;
}

/**
 * The command line of Chromium. What it switches off talks to somebody else than the target, throttles a page that
 * nobody looks at, or shows things that no visitor would see.
 */
export function launchFlags(options: FlagOptions): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${options.profileDir}`,
    ...(options.sandbox ? [] : ['--no-sandbox']),

    // The only way to the network is the proxy that each browser context is given. A context without one finds
    // a dead end here; loopback, which Chromium would reach directly, is no exception.
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    // WebRTC asks the resolver of the machine for the host names of candidates, whatever proxy there is.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',

    // Nothing of its own to say to anybody.
    '--disable-background-networking',
    '--disable-breakpad',
    '--disable-client-side-phishing-detection',
    '--disable-component-extensions-with-background-pages',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-domain-reliability',
    '--disable-extensions',
    '--disable-field-trial-config',
    '--disable-sync',
    '--metrics-recording-only',
    '--no-default-browser-check',
    '--no-first-run',
    '--no-pings',
    '--no-service-autorun',
    '--password-store=basic',
    '--use-mock-keychain',

    // A page behaves as it would in front of a person.
    '--disable-back-forward-cache',
    '--disable-background-timer-throttling',
    '--disable-backgrounding-occluded-windows',
    '--disable-hang-monitor',
    '--disable-prompt-on-repost',
    '--disable-renderer-backgrounding',
    '--disable-search-engine-choice-screen',
    '--force-color-profile=srgb',
    '--hide-scrollbars',
    '--mute-audio',
    // A mouse, which headless Chromium does not have: fine pointers (4) that hover (2). A touch screen replaces it.
    '--blink-settings=primaryPointerType=4,availablePointerTypes=4,primaryHoverType=2,availableHoverTypes=2',
    ...(options.honest ? [] : ['--disable-blink-features=AutomationControlled']),

    // Measured: software GL in place of no GPU at all captures 0.6 times as many pages.
    '--disable-gpu',
    // Containers give /dev/shm 64 MiB, and a page that needs more crashes.
    '--disable-dev-shm-usage',
    // window.open() fails instead of making pages that nobody looks at.
    '--block-new-web-contents',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
}

const DISABLED_FEATURES = [
  // A page is asked for as it was written, http stays http.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'AcceptCHFrame',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  // The first scripts of a page would see a window without a size (`outerWidth` 0): each document has a widget of its own.
  'RenderDocument',
  'Translate',
];
