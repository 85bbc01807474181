import type { Locale } from './locales.ts';
import { box, type State } from './theme.ts';

/** Pages that shops show in place of a product, with status 200, in the language of the shop. */
export function noContent(state: State | undefined, at: number, locale: Locale): string | undefined {
  const { words, lang, rightToLeft } = locale;
  const page = (title: string, body: string) =>
    `<!doctype html><html lang="${lang}"${rightToLeft ? ' dir="rtl"' : ''}><head><meta charset="utf-8"><title>${title}</title></head><body>${body}</body></html>`;
  const shop = (body: string) =>
    page(
      'Harbour',
      `<header><a href="/">Harbour</a> <a href="/lamps">Lamps</a></header><main>${body}</main><footer>© 2026 Harbour <a href="/contact">Contact</a></footer>`,
    );
  if (state === 'cookie wall') {
    const [text, accept, reject] = words.cookies;
    const buttons = `<button>${reject}</button> <button>${accept}</button>`;
    const each = [
      `<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk" role="dialog" style="position:fixed;inset:0;background:#fff"><div id="onetrust-policy-text">${text}</div><div id="onetrust-button-group">${buttons}</div></div></div>`,
      `<div id="usercentrics-root" style="position:fixed;inset:0;background:#fff"><section role="dialog" aria-modal="true"><h2>Cookies</h2><p>${text}</p>${buttons}</section></div>`,
      `<div class="qc-cmp2-container" id="qc-cmp2-container"><div class="qc-cmp2-main" role="dialog" style="position:fixed;inset:0;background:#fff"><p>${text}</p>${buttons}</div></div>`,
    ];
    return page('Harbour', each[at % each.length] ?? '');
  }
  if (state === 'bot wall') {
    const [title, text] = words.robot;
    const each = [
      `<div class="main-wrapper" role="main"><div class="main-content"><h1 class="zone-name-title">shop.example</h1><p>${text}</p><div class="cf-turnstile" id="turnstile-wrapper"><input type="hidden" name="cf-turnstile-response"></div></div></div><div class="footer"><div>Ray ID: <code>8f0c3b1e2d9a1c77</code></div><a href="https://www.cloudflare.com">Cloudflare</a></div><script src="/cdn-cgi/challenge-platform/h/g/orchestrate/chl_page/v1"></script>`,
      `<p id="cmsg">Please enable JS and disable any ad blocker</p><iframe src="https://geo.captcha-delivery.com/captcha/?initialCid=AHrl" title="DataDome CAPTCHA" width="100%" height="600"></iframe>`,
      `<h4>${text}</h4><form action="/errors/validateCaptcha"><input id="captchacharacters" name="field-keywords" type="text"><button>${words.cookies[1]}</button></form>`,
      `<h1>${title}</h1><p>${text}</p><div id="px-captcha" style="width:400px;height:80px;border:1px solid"></div><script src="https://captcha.px-cloud.net/PXabc123/captcha.js"></script>`,
    ];
    return page(title, each[at % each.length] ?? '');
  }
  if (state === 'error page') {
    const [title, text] = words.oops;
    const price = locale.write(49);
    const each = [
      page(title, `<h1>${title}</h1><p>${text}</p>`),
      shop(`<h1>404</h1><h2>${title}</h2><p>${text}</p><a href="/">Harbour</a>`),
      // Recommended products have prices, too.
      shop(
        `<h1>${title}</h1><p>${text}</p><aside><ul><li><b>Rope</b> <span class="price">${price}</span></li><li><b>Map</b> <span class="price">${price}</span></li></ul></aside>`,
      ),
      page('503', `<center><h1>503 Service Temporarily Unavailable</h1></center><hr><center>nginx</center>`),
      shop(`<div role="alert">${text}</div>${box(1)}`),
    ];
    return each[at % each.length];
  }
  return undefined;
}
