import type { EvidenceKind } from './evidence.ts';

/*
 * What may be asked of one capture. An option that is left out is at its default, which its comment says. Bounds are
 * checked where requests come in (http/schemas); here they are taken as kept.
 */

export const IMAGE_FORMATS = ['png', 'jpeg', 'webp'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];
export const CAPTURE_FORMATS = [...IMAGE_FORMATS, 'pdf'] as const;
export type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

/**
 * Most pixels of one screenshot: a page 2048 px wide may be as tall as any. Drawing takes ten bytes a pixel; a page of
 * 16384 by 16384 made one process of Chromium take 2.7 GB.
 */
export const MAX_PIXELS = 2048 * 16_384;

export const WAIT_UNTIL = ['load', 'domcontentloaded', 'networkidle'] as const;
export type WaitUntil = (typeof WAIT_UNTIL)[number];

export const PAPER_FORMATS = ['A3', 'A4', 'A5', 'Letter', 'Legal', 'Tabloid'] as const;
export type PaperFormat = (typeof PAPER_FORMATS)[number];

/** Those that browsers can tell apart before they ask for them: `xhr` is `fetch()`, too. WebSockets cannot be. */
export const RESOURCE_TYPES = ['stylesheet', 'image', 'media', 'font', 'script', 'xhr', 'other'] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** What to capture and how, every option decided. */
export interface CaptureRequest
  extends ScreenshotOptions,
    WaitOptions,
    VisitorOptions,
    PageOptions,
    InteractionOptions,
    RecordOptions {
  /** Absolute http or https URL, as asked for (the scheme put before it when it had none). */
  readonly url: string;
  /** `https://` was put before the URL: where nothing answers, `http://` is tried. Default false. */
  readonly schemeAssumed?: boolean | undefined;
  /** The capture's deadline in milliseconds, counted from when it is started (not from when it is queued). */
  readonly timeoutMs: number;
  /** Absolute http or https URL that is told how the capture ended. */
  readonly callback?: string | undefined;
}

/** What the screenshot shows. */
export interface ScreenshotOptions {
  readonly fullPage: boolean;
  readonly format: CaptureFormat;
  /** 1..100; jpeg and webp only. */
  readonly quality: number;
  /** Default: 1280 by 720, one pixel for each CSS pixel. */
  readonly viewport?: Viewport | undefined;
  /** That element alone. A CSS selector, or XPath when it begins with `/`, `./`, `(` or `xpath=`. */
  readonly selector?: string | undefined;
  /** That rectangle of the page alone. */
  readonly clip?: Rectangle | undefined;
  /** What the page does not paint is transparent (png and webp). Default false. */
  readonly omitBackground?: boolean | undefined;
  /** Elements that match are not shown; the place that they take stays. */
  readonly hide?: readonly string[] | undefined;
  /** Elements that match are covered with one colour. */
  readonly mask?: readonly string[] | undefined;
  /** For the format `pdf`. */
  readonly pdf?: PdfOptions | undefined;
}

/** CSS pixels. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
  /** Pixels of the screenshot for each CSS pixel. */
  readonly deviceScaleFactor: number;
  /** A phone or tablet: `<meta name=viewport>` counts, and scrollbars lie over the page. */
  readonly mobile: boolean;
  readonly touch: boolean;
  /** CSS pixels of the whole screen. Default: those of the viewport. */
  readonly screen?: { readonly width: number; readonly height: number } | undefined;
}

/** CSS pixels from the page's upper left corner. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PdfOptions {
  /** Default A4. */
  readonly paper?: PaperFormat | undefined;
  readonly landscape?: boolean | undefined;
  /** Millimetres, on all four sides. Default 10. */
  readonly margin?: number | undefined;
  /** 0.1..2. Default 1. */
  readonly scale?: number | undefined;
  /** Colours and screenshots behind the text. Default true. */
  readonly background?: boolean | undefined;
}

/** When the screenshot is taken. */
export interface WaitOptions {
  /** Default `load`. */
  readonly waitUntil?: WaitUntil | undefined;
  /** Until an element that matches is visible. CSS or XPath, as `selector`. */
  readonly waitForSelector?: string | undefined;
  /** Until this JavaScript expression, or function, gives something truthy in the page. */
  readonly waitForFunction?: string | undefined;
  /** Milliseconds after all else. */
  readonly delayMs?: number | undefined;
}

/** Who seems to be visiting. */
export interface VisitorOptions {
  readonly userAgent?: string | undefined;
  readonly darkMode?: boolean | undefined;
  readonly reducedMotion?: boolean | undefined;
  /** BCP 47: `de-AT`. */
  readonly locale?: string | undefined;
  /** IANA: `Europe/Vienna`. */
  readonly timezone?: string | undefined;
  readonly geolocation?: Geolocation | undefined;
  /** Sent with requests to the target's own origin. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly cookies?: readonly RequestCookie[] | undefined;
  /** Given to the target's own origin when it asks. */
  readonly httpCredentials?: Credentials | undefined;
  /** Default false. */
  readonly ignoreCertErrors?: boolean | undefined;
  readonly proxy?: UpstreamProxy | undefined;
}

export interface Geolocation {
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly accuracy: number;
}

export interface RequestCookie {
  readonly name: string;
  readonly value: string;
  /** Default: the target's host alone. */
  readonly domain?: string | undefined;
  readonly path?: string | undefined;
  readonly secure?: boolean | undefined;
  readonly httpOnly?: boolean | undefined;
  readonly sameSite?: 'Strict' | 'Lax' | 'None' | undefined;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface UpstreamProxy {
  /** `http://host:port` */
  readonly server: string;
  readonly credentials?: Credentials | undefined;
}

/** What is done to the page without touching it as a person would. */
export interface PageOptions {
  readonly javascript?:
    | {
        /** Run in every document before its own scripts. */
        readonly before?: string | undefined;
        /** Run once the page has loaded; a promise is awaited. */
        readonly after?: string | undefined;
      }
    | undefined;
  /** A style sheet that is added. */
  readonly css?: string | undefined;
  readonly block?:
    | {
        readonly types?: readonly ResourceType[] | undefined;
        /** `*` stands for any characters. */
        readonly urls?: readonly string[] | undefined;
      }
    | undefined;
  readonly blockAds?: boolean | undefined;
  readonly cookieBanners?: 'accept' | 'reject' | undefined;
}

/** What is done on the page as a person would. */
export interface InteractionOptions {
  /** One after another, once the page has loaded. */
  readonly actions?: readonly Action[] | undefined;
  /** Filled in behind the actions. */
  readonly form?: FormFilling | undefined;
}

/** Each on the first element that matches its selector, CSS or XPath, once that can be seen and takes it. */
export type Action =
  | { readonly type: 'click' | 'hover' | 'check' | 'uncheck'; readonly selector: string }
  /** Key by key, in place of what the field holds. */
  | { readonly type: 'type'; readonly selector: string; readonly text: string }
  /** `Enter`, `a`, `Control+A`; where the focus is unless an element is named. */
  | { readonly type: 'press'; readonly key: string; readonly selector?: string | undefined }
  /** The option of that value, or of that text. */
  | { readonly type: 'select'; readonly selector: string; readonly value: string }
  | ScrollAction
  /** Until the element is visible, then so many milliseconds. */
  | { readonly type: 'wait'; readonly ms?: number | undefined; readonly selector?: string | undefined };

/** By so many CSS pixels: the page, or what the element holds. An element alone is scrolled to. */
export interface ScrollAction {
  readonly type: 'scroll';
  readonly selector?: string | undefined;
  readonly x?: number | undefined;
  readonly y?: number | undefined;
}

export interface FormFilling {
  /** Default: the first form of the page. */
  readonly selector?: string | undefined;
  /** By the name of the field. A checkbox takes true or false; a group of them, or of radio buttons, the value. */
  readonly fields: Readonly<Record<string, string | boolean>>;
  /** Whether it is sent. Default true. */
  readonly submit?: boolean | undefined;
}

/** What is noted beside the screenshot, and what may be taken in place of a new capture. */
export interface RecordOptions {
  /** Beyond what comes for free. Default none. */
  readonly evidence?: readonly EvidenceKind[] | undefined;
  /** A stored capture of the same URL and options that is at most so old is the answer. Default 0: none is. */
  readonly cacheMaxAgeMs?: number | undefined;
}

/** Whether a capture is driven by Playwright: it does something that a person would do with hands. */
export function isInteractive({ actions, form, waitForFunction }: CaptureRequest): boolean {
  return actions !== undefined || form !== undefined || waitForFunction !== undefined;
}
