import { DEFAULT_LOCALE } from '../../capture/options/default-visitor.ts';

interface FlagOptions {
  readonly profileDir: string;
  readonly sandbox: boolean;
  /** Whether pages can see that the browser is automated (`navigator.webdriver`). */
  readonly honest: boolean;
}

/**
 * Returns Chromium's command line. It turns off requests to hosts other than the target, throttling of pages in the
 * background, and UI that a visitor would not see.
 */
export function launchFlags(options: FlagOptions): string[] {
  return [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${options.profileDir}`,
    ...(options.sandbox ? [] : ['--no-sandbox']),

    // Each browser context has its own proxy, which is its only access to the network. A context without a proxy gets
    // this address, where nothing listens. That includes loopback, which Chromium would otherwise reach directly.
    '--proxy-server=http://127.0.0.1:9',
    '--proxy-bypass-list=<-loopback>',
    '--disable-quic',
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--dns-prefetch-disable',
    // WebRTC asks the machine's resolver for the host names of candidates, regardless of the proxy.
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',

    // No traffic of the browser's own.
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

    // Without these, the browser of @sparticuz/chromium takes its language from the environment, and pages that call
    // Intl fail with LANG=C.
    `--lang=${DEFAULT_LOCALE}`,
    `--accept-lang=${DEFAULT_LOCALE}`,

    // Pages behave as in a window in the foreground.
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
    // Headless Chromium reports no mouse; these values report a fine pointer (4) with hover (2). Touch emulation
    // overrides them.
    '--blink-settings=primaryPointerType=4,availablePointerTypes=4,primaryHoverType=2,availableHoverTypes=2',
    ...(options.honest ? [] : ['--disable-blink-features=AutomationControlled']),

    // Measured: software GL captures 0.6 times as many pages as no GPU.
    '--disable-gpu',
    // Containers limit /dev/shm to 64 MiB, and a page that needs more crashes.
    '--disable-dev-shm-usage',
    // window.open() fails instead of creating pages that are never captured.
    '--block-new-web-contents',
    `--disable-features=${DISABLED_FEATURES.join(',')}`,
  ];
}

const DISABLED_FEATURES = [
  // URLs are requested as written: http stays http.
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'AcceptCHFrame',
  'AutofillServerCommunication',
  'CertificateTransparencyComponentUpdater',
  'DialMediaRouteProvider',
  // A red notice over pages made by XSLT, such as feeds and sitemaps (since Chromium 155). It covers their headings.
  'GenerateXSLTWarningBanner',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
  // With this feature, the first scripts of a page see a window without a size (`outerWidth` 0), because each document
  // has its own widget.
  'RenderDocument',
  'Translate',
];
