import type { Protocol } from 'devtools-protocol';
import { DEFAULT_LOCALE } from '../../capture/options/default-visitor.ts';
import type { CaptureRequest } from '../../capture/request.ts';

type UserAgentOverride = Protocol.Emulation.SetUserAgentOverrideRequest;

/** Properties that devices of one kind report in addition to their user agent. */
interface Platform {
  readonly mark: RegExp;
  /** `navigator.platform` */
  readonly platform: string;
  /** The platform in client hints. */
  readonly hint: string;
}

/** The first entry whose mark is in the user agent applies. */
const PLATFORMS: readonly Platform[] = [
  { mark: /Android (\d+(?:\.\d+)*)/, platform: 'Linux armv81', hint: 'Android' },
  { mark: /iPhone OS (\d+(?:_\d+)*)/, platform: 'iPhone', hint: 'iOS' },
  { mark: /iPad; CPU OS (\d+(?:_\d+)*)/, platform: 'iPad', hint: 'iOS' },
  { mark: /Mac OS X (\d+(?:[_.]\d+)*)/, platform: 'MacIntel', hint: 'macOS' },
  { mark: /Windows NT (\d+(?:\.\d+)*)/, platform: 'Win32', hint: 'Windows' },
  { mark: /Linux()/, platform: 'Linux x86_64', hint: 'Linux' },
];

/**
 * Returns the override of the user agent, its client hints and languages, made from `userAgent` and `locale`. User
 * agents that do not name Chrome get no client hints, as in those browsers. The languages are always overridden: the
 * browser of
 * @sparticuz/chromium takes those of shared workers from its environment, whatever its flags say.
 */
export function userAgentOverride(
  { userAgent: asked, locale }: CaptureRequest,
  ownUserAgent?: string,
): UserAgentOverride {
  const userAgent = asked ?? ownUserAgent;
  const acceptLanguage = locale === undefined ? DEFAULT_LOCALE : languagesOf(locale);
  // An empty user agent keeps the browser's own.
  if (userAgent === undefined) return { userAgent: '', acceptLanguage };
  const found = PLATFORMS.find(({ mark }) => mark.test(userAgent));
  const hints = found === undefined ? undefined : clientHints(userAgent, found);
  return {
    userAgent,
    acceptLanguage,
    ...(found === undefined ? {} : { platform: found.platform }),
    ...(hints === undefined ? {} : { userAgentMetadata: hints }),
  };
}

/** Returns whether the override claims to be a browser that has no client hints. */
export function isNotChromium({ userAgent, userAgentMetadata }: UserAgentOverride): boolean {
  return userAgent !== '' && userAgentMetadata === undefined;
}

/** `de-AT`, then `de`, as browsers send it. */
function languagesOf(locale: string): string {
  const { language } = new Intl.Locale(locale);
  return locale === language ? locale : `${locale},${language}`;
}

function clientHints(userAgent: string, { mark, hint }: Platform): Protocol.Emulation.UserAgentMetadata | undefined {
  const chromium = /\bChrome\/((\d+)[\d.]*)/.exec(userAgent);
  if (chromium === null) return undefined;
  const [, version = '', major = ''] = chromium;
  const edge = /\bEdg\/((\d+)[\d.]*)/.exec(userAgent);
  const [product, productVersion, productMajor] =
    edge === null ? ['Google Chrome', version, major] : ['Microsoft Edge', edge[1] ?? '', edge[2] ?? ''];
  const mobile = /\bMobile\b/.test(userAgent);
  return {
    brands: [GREASE, { brand: 'Chromium', version: major }, { brand: product, version: productMajor }],
    fullVersionList: [
      { ...GREASE, version: `${GREASE.version}.0.0.0` },
      { brand: 'Chromium', version },
      { brand: product, version: productVersion },
    ],
    platform: hint,
    platformVersion: mark.exec(userAgent)?.[1]?.replaceAll('_', '.') ?? '',
    architecture: hint === 'Android' || hint === 'iOS' ? '' : 'x86',
    bitness: hint === 'Android' || hint === 'iOS' ? '' : '64',
    model: /Android [^;)]*; ([^;)]*?)(?: Build\/[^;)]*)?\)/.exec(userAgent)?.[1] ?? '',
    mobile,
    wow64: false,
  };
}

/** The fictitious brand that Chromium sends so that servers do not rely on the list. */
const GREASE = { brand: 'Not)A;Brand', version: '24' };
