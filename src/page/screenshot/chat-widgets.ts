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
