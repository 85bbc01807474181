/*
 * Finders of elements that lie over the page: JavaScript of functions that run in the page and return elements. A page
 * that consists of fixed elements, as applications do, is no overlay: it lies over no content.
 */

/** Share of the window from which on a fixed element may be the page itself, or a popup. */
const MIN_WINDOW_SHARE = 0.4;
/** Points in each direction at which the window is examined. */
const POINTS = 8;

/** CSS selectors of the elements that chat services add to pages, by service. `docs/options.md` names the services. */
export const CHATS: Readonly<Record<string, string>> = {
  Ada: '#ada-button-frame, #ada-chat-frame',
  Botpress: '#bp-web-widget, #bp-web-widget-container',
  Chatwoot: '.woot-widget-holder, .woot--bubble-holder',
  Crisp: '.crisp-client, #crisp-chatbox',
  Drift: '#drift-widget, #drift-widget-container, #drift-frame-controller, #drift-frame-chat',
  Facebook: '.fb_dialog, .fb-customerchat',
  Freshchat: '#fc_frame, #freshworks-container, #freshworks-frame-wrapper, #launcher-frame',
  Gorgias: '#gorgias-chat-container',
  'Help Scout': '#beacon-container, .BeaconFabButtonFrame',
  HubSpot: '#hubspot-messages-iframe-container',
  Intercom: '#intercom-container, .intercom-lightweight-app, .intercom-app, iframe[name^="intercom-"]',
  JivoChat: 'jdiv',
  LiveChat: '#chat-widget-container, #livechat-compact-container',
  Olark: '#olark-wrapper, #olark-container',
  Podium: '#podium-widget, #podium-bubble, #podium-prompt',
  'Re:amaze': '#reamaze-widget',
  Salesforce: '.embeddedServiceHelpButton, .embeddedServiceSidebar, #embedded-messaging',
  Smartsupp: '#smartsupp-widget-container, #chat-application',
  'tawk.to': '.tawk-min-container, .tawk-max-container, #tawkchat-container, iframe[title="chat widget"]',
  Tidio: '#tidio-chat, #tidio-chat-iframe',
  Userlike: '#userlike, #uslk-button',
  Zendesk: 'iframe#launcher, iframe#webWidget, .zEWidget-launcher, [data-product="web_widget"]',
  'Zoho SalesIQ': '#zsiq_float, .zsiq_floatmain, #siqiframe, .zls-sptwndw',
};

/** CSS selector of the elements of well-known chat services. */
export const CHAT_WIDGETS = Object.values(CHATS).join(', ');

/** Returns elements for which `isWanted` is true, also in open shadow trees. */
const SEARCH = `(isWanted) => {
  const found = [];
  const walk = (tree) => {
    for (const element of tree.querySelectorAll('*')) {
      if (isWanted(element)) found.push(element);
      const shadow = Reflect.get(Element.prototype, 'shadowRoot', element);
      if (shadow) walk(shadow);
    }
  };
  walk(Reflect.get(Document.prototype, 'documentElement', document));
  return found;
}`;

/** Finds elements with this position. */
export const positioned = (position: 'fixed' | 'sticky') =>
  `() => (${SEARCH})((element) => getComputedStyle(element).position === '${position}')`;

/**
 * Tells how a fixed element lies over the page. Closes modal dialogs: all else is inert behind them, and not found at
 * points.
 */
const OVERLAYS = `(() => {
  const search = ${SEARCH};
  const isTop = (element) => element.matches(':modal, :popover-open');
  const top = search(isTop);
  for (const each of top) if (each.matches('dialog:modal')) HTMLDialogElement.prototype.close.call(each);
  const places = (length) => Array.from({ length: ${POINTS} }, (_, at) => (length * (at + 0.5)) / ${POINTS});
  const stacks = places(innerHeight).flatMap((y) =>
    places(innerWidth).map((x) => Document.prototype.elementsFromPoint.call(document, x, y)),
  );
  const above = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
  const contains = (outer, inner) => {
    for (let each = inner; each; each = above(each)) if (each === outer) return true;
    return false;
  };
  const known = new Map([[null, null]]);
  const fixedAround = (element) => {
    const way = [];
    let each = element;
    while (!known.has(each)) {
      if (getComputedStyle(each).position === 'fixed') known.set(each, each);
      else {
        way.push(each);
        each = above(each);
      }
    }
    for (const inner of way) known.set(inner, known.get(each));
    return known.get(element);
  };
  const bodies = ['documentElement', 'body'].map((name) => Reflect.get(Document.prototype, name, document));
  /** Whether there is content below the element that does not belong to a fixed element beside it. */
  const covers = (element) => {
    // Stacks of the document show the host in place of what is in a shadow tree.
    let shown = element;
    while (shown.getRootNode() instanceof ShadowRoot) shown = shown.getRootNode().host;
    return stacks.some((stack) => {
      const at = stack.findLastIndex((each) => contains(shown, each));
      return at !== -1 && stack.slice(at + 1).some((below) => {
        if (bodies.includes(below) || contains(below, element)) return false;
        const around = fixedAround(below);
        return around === null || contains(around, element);
      });
    });
  };
  const isLarge = (element) => {
    const { left, right, top, bottom } = Element.prototype.getBoundingClientRect.call(element);
    const [width, height] = [Math.min(right, innerWidth) - Math.max(left, 0), Math.min(bottom, innerHeight) - Math.max(top, 0)];
    return width > 0 && height > 0 && width * height >= innerWidth * innerHeight * ${MIN_WINDOW_SHARE};
  };
  const isCentral = (element) => {
    const { left, right, top, bottom } = Element.prototype.getBoundingClientRect.call(element);
    return left < innerWidth / 2 && right > innerWidth / 2 && top < innerHeight / 2 && bottom > innerHeight / 2;
  };
  const fixed = search((element) => getComputedStyle(element).position === 'fixed' && !bodies.includes(element));
  return { top, fixed, covers, isLarge, isCentral, search };
})()`;

/** Finds fixed elements, except one that is the page itself or its background. */
export const FIXED = `() => {
  const { top, fixed, covers, isLarge } = ${OVERLAYS};
  return [...top, ...fixed.filter((element) => !isLarge(element) || covers(element))];
}`;

/** Finds popups: dialogs, and fixed elements over the middle or a large part of the window that cover content. */
export const POPUPS = `() => {
  const { top, fixed, covers, isLarge, isCentral, search } = ${OVERLAYS};
  const isDialog = (element) =>
    element.matches('[role="dialog" i], [role="alertdialog" i], [aria-modal="true" i]') &&
    /fixed|absolute/.test(getComputedStyle(element).position);
  const popups = fixed.filter((element) => (isLarge(element) || isCentral(element)) && covers(element));
  return [...top, ...search(isDialog), ...popups];
}`;
