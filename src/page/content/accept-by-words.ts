import { z } from 'zod';
import { type Banner, NO_BANNER } from '../../capture/banner.ts';
import { evaluate } from '../ask-page.ts';
import type { IsolatedPage } from '../isolated-page.ts';

/** Maximum number of buttons that are looked at, and of characters of a banner. */
const MAX_BUTTONS = 2_000;
const MAX_BANNER_CHARACTERS = 5_000;

const ALL = '(?:all|everything|all of them)';
const COOKIES = '(?:(?:the |these |our |site )?cookies?)';
/** Words on buttons that accept everything, in the languages of most banners. */
const ACCEPT = [
  `(?:yes,? )?(?:i )?(?:accept|allow|agree(?: to)?|enable|consent(?: to)?)(?: ${ALL})?(?: ${COOKIES})?(?: (?:and|&) (?:close|continue|proceed))?`,
  '(?:ja,? )?(?:ich )?(?:alle[ns]?|allem)? ?(?:cookies )?(?:akzeptieren|zustimmen|annehmen|erlauben|zulassen|akzeptiere|stimme zu)(?: und (?:weiter|schlie(?:ß|ss)en))?',
  "(?:tout |j['’])?accepte[rz]?(?: (?:tout|tous|toutes))?(?: les cookies)?(?: et (?:fermer|continuer))?|tout autoriser|j['’]accepte",
  '(?:acept(?:ar|o)|permitir)(?: tod[oa]s?)?(?: (?:las )?cookies)?(?: y (?:cerrar|continuar))?',
  '(?:accett[ao]|acconsento)(?: tutt[oi])?(?: i cookie)?',
  '(?:aceitar|aceito|permitir)(?: tod[oa]s?| tudo)?(?: (?:os )?cookies)?',
  'al(?:le|les) (?:cookies )?(?:accepteren|toestaan)|(?:cookies )?accepteren|akkoord',
  '(?:za)?akceptuj[eę]?(?: wszystk(?:ie|o))?(?: pliki cookie)?|zgadzam się',
  '(?:acceptera|godkänn|tillåt)(?: alla)?(?: cookies)?|(?:accepter|tillad|godkend)(?: alle)?(?: cookies)?|(?:godta|aksepter)(?: alle)?',
  'hyväksy(?: kaikki)?(?: evästeet)?|přijmout(?: vše)?|souhlasím|elfogadom|tümünü kabul et|kabul et|принять(?: все)?|согласен',
  'すべて(?:許可|同意|受け入れる)(?:する)?|同意する|全部接受|接受(?:全部|所有)?|同意|모두 (?:동의|허용|수락)',
].join('|');
const ACKNOWLEDGE =
  "ok(?:ay)?|got it|i understand|understood|continue|verstanden|alles klar|einverstanden|d['’]accord|compris|j['’]ai compris|entendido|de acuerdo|vale|ho capito|va bene|entendi|begrepen|rozumiem|jag förstår|понятно|了解|知道了|확인";
const SUBJECT =
  'cookies?\\b|consent|gdpr|dsgvo|ccpa|privacy|datenschutz|einwilligung|confidentialité|privacidad|privacidade|riservatezza|evästeet|souhlas|çerez|куки|クッキー|隐私|쿠키';

const clicked = z.enum(['accepted', 'acknowledged', 'none']);

/** Accepts a banner that no rule knows by the words on its buttons, in the page itself. */
export async function acceptByWords(page: IsolatedPage): Promise<Banner> {
  const action = clicked.catch('none').parse(await evaluate(page, `(${CLICK})()`));
  return action === 'none' ? NO_BANNER : { found: true, rule: 'words', action };
}

/**
 * Runs in the page. Finds the first box that is about cookies and lies over the page, or is named after cookies. Clicks
 * its button that accepts, or the one that acknowledges when there is no other choice.
 */
const CLICK = `() => {
  const ACCEPT = /^(?:${ACCEPT})[.!]?$/iu;
  const ACKNOWLEDGE = /^(?:${ACKNOWLEDGE})[.!]?$/iu;
  const SUBJECT = /${SUBJECT}/iu;
  const NAMED = /cookie|consent|gdpr|cmp|privacy/i;
  const textOf = (element) => (Reflect.get(HTMLElement.prototype, 'innerText', element) ?? '').trim();
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? '';
  const parentOf = (element) => Reflect.get(Node.prototype, 'parentElement', element);
  const wordsOf = (button) => {
    const text = button.localName === 'input' ? attribute(button, 'value') : textOf(button);
    return (text || attribute(button, 'aria-label')).replace(/[✓✔×✕→«»"'“”]+$|^[✓✔×✕→«»"“”]+/gu, '').replace(/\\s+/g, ' ').trim();
  };
  const isVisible = (button) => {
    const { width, height } = Element.prototype.getBoundingClientRect.call(button);
    return width > 0 && height > 0 &&
      Element.prototype.checkVisibility.call(button, { opacityProperty: true, visibilityProperty: true });
  };
  const bannerOf = (button) => {
    for (let box = parentOf(button); box !== null && box !== document.body; box = parentOf(box)) {
      const { position } = getComputedStyle(box);
      const isOver = position === 'fixed' || position === 'sticky' || position === 'absolute' ||
        box.localName === 'dialog' || /dialog/.test(attribute(box, 'role')) ||
        NAMED.test(attribute(box, 'id') + ' ' + attribute(box, 'class'));
      if (!isOver) continue;
      const text = textOf(box);
      if (text.length <= ${MAX_BANNER_CHARACTERS} && SUBJECT.test(text)) return box;
    }
    return null;
  };
  const all = Document.prototype.querySelectorAll.call(
    document, 'button, [role="button"], input[type="button"], input[type="submit"], a',
  );
  const buttons = [...all].slice(0, ${MAX_BUTTONS}).filter((button) => HTMLElement.prototype.isPrototypeOf(button));
  for (const [words, action] of [[ACCEPT, 'accepted'], [ACKNOWLEDGE, 'acknowledged']]) {
    const button = buttons.find((each) => words.test(wordsOf(each)) && isVisible(each) && bannerOf(each) !== null);
    if (button === undefined) continue;
    HTMLElement.prototype.click.call(button);
    return action;
  }
  return 'none';
}`;
