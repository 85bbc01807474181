const ALL = '(?:all|everything|all of them)';
const COOKIES = '(?:(?:the |these |our |site )?cookies?)';
const ACCEPT_WORDS = [
  `(?:(?:yes|ok(?:ay)?),? )?(?:i )?(?:accept|allow|agree(?: to)?|enable|consent(?: to)?)(?: ${ALL})?(?: ${COOKIES})?`,
  '(?:(?:ja|ok(?:ay)?),? )?(?:ich )?(?:alle[ns]?|allem)? ?(?:cookies )?(?:akzeptieren|zustimmen|annehmen|erlauben|zulassen|akzeptiere|stimme zu)',
  'ich (?:akzeptiere|erlaube|stimme) alle[nms]?(?: cookies)?(?: zu)?|alle (?:cookies )?auswählen(?: und | ?& ?)(?:bestätigen|speichern)',
  "(?:tout |j['’])?accepte[rz]?(?: (?:tout|tous|toutes))?(?: les cookies)?|tout autoriser|j['’]accepte",
  '(?:acept(?:ar|o)|permitir)(?: tod[oa]s?)?(?: (?:las )?cookies)?',
  '(?:accett[ao]|acconsento)(?: tutt[oi])?(?: i cookie)?',
  '(?:aceitar|aceito|permitir)(?: tod[oa]s?| tudo)?(?: (?:os )?cookies)?',
  "einverstanden|(?:je suis )?d['’]accord|(?:estoy )?de acuerdo|(?:sono )?d['’]accordo",
  'al(?:le|les) (?:cookies )?(?:accepteren|toestaan)|(?:cookies )?accepteren|(?:ik ga )?akkoord|ik accepteer(?: alle(?:s| cookies)?)?',
  '(?:za)?akceptuj[eę]?(?: wszystk(?:ie|o))?(?: pliki cookie)?|zgadzam się',
  '(?:acceptera|godkänn|tillåt)(?: alla)?(?: cookies)?|(?:accepter|tillad|godkend)(?: alle)?(?: cookies)?|(?:godta|aksepter)(?: alle)?',
  'hyväksy(?: kaikki)?(?: evästeet)?|přijmout(?: vše)?|souhlasím|elfogadom|tümünü kabul et|kabul et|принять(?: все)?|согласен',
  'すべて(?:許可|同意|受け入れる)(?:する)?|同意する|全部接受|接受(?:全部|所有)?|同意|모두 (?:동의|허용|수락)',
].join('|');
const REJECT_WORDS = [
  `(?:no,? )?(?:i )?(?:reject|decline|refuse|deny|disagree|disallow)(?: (?:to|of))?(?: ${ALL})?(?: ${COOKIES})?|continue without (?:accepting|agreeing|consent)`,
  '(?:accept|allow|use|keep) (?:only )?(?:the )?(?:strictly )?(?:necessary|essential|required)(?: cookies)?(?: only)?|only (?:strictly )?(?:necessary|essential|required)(?: cookies)?|(?:strictly )?(?:necessary|essential|required)(?: cookies)? only',
  '(?:alle[ns]?|allem)? ?(?:cookies )?(?:ablehnen|verweigern)|ich lehne (?:alles |alle )?ab|(?:weiter|fortfahren) ohne (?:einwilligung|zustimmung|zu akzeptieren)',
  'nur (?:technisch |unbedingt )?(?:notwendige|essenzielle|erforderliche)(?: cookies)?(?: (?:akzeptieren|zulassen|erlauben|verwenden))?',
  '(?:tout |je )?refuse[rz]?(?: (?:tout|tous|toutes))?(?: les cookies)?|continuer sans accepter|uniquement les cookies (?:nécessaires|essentiels)',
  '(?:no acepto|rechaz(?:ar|o)|denegar)(?: tod[oa]s?)?(?: (?:las )?cookies)?|(?:usar )?s[oó]lo (?:las )?(?:cookies )?(?:necesarias|esenciales)|continuar sin aceptar',
  '(?:rifiut[ao]|nega)(?: tutt[oi])?(?: i cookie)?|solo (?:i )?(?:cookie )?(?:necessari|essenziali)|continua senza accettare',
  '(?:recus(?:ar|o)|rejeit(?:ar|o))(?: tod[oa]s?| tudo)?(?: (?:os )?cookies)?|(?:apenas|somente|só) (?:os )?(?:cookies )?(?:necessários|essenciais)|continuar sem aceitar',
  '(?:alles? )?(?:cookies )?(?:weigeren|afwijzen)|alleen (?:noodzakelijke?|functionele?)(?: cookies)?(?: (?:accepteren|toestaan))?|doorgaan zonder (?:te )?accepteren',
  'odrzuć(?: wszystkie)?(?: pliki cookie)?|odrzucam|nie zgadzam się|tylko niezbędne(?: pliki cookie)?',
  '(?:avvisa|neka|avböj|afvis|avslå)(?: all[ae])?(?: (?:cookies|kakor))?|(?:endast|bara|kun) (?:nödvändiga|nødvendige)(?: (?:cookies|kakor))?',
  'hylkää(?: kaikki)?(?: evästeet)?|vain välttämättömät(?: evästeet)?|odmítnout(?: vše)?|(?:pouze|jen) nezbytné|elutasítom|tümünü reddet|reddet|отклонить(?: все)?|только необходимые',
  'すべて(?:拒否|却下)(?:する)?|(?:同意|許可)しない|拒否する|全部拒绝|拒绝(?:全部|所有)?|모두 거부|거부',
].join('|');
/** Joins the words of a button with those for what it does next. */
const AND_THEN = '(?: ?[&+/|,-] ?| (?:and|und|et|y|e|en|i|a|og|och) )';
const CLOSE =
  '(?:close|(?:continue|proceed)(?: to (?:the )?(?:web)?site)?|(?:visit|enter) (?:the )?(?:web)?site|weiter|weiterlesen|schlie(?:ß|ss)en|fortfahren|fermer|continuer|poursuivre|cerrar|continuar|chiudi|continua|prosegui|fechar|sluiten|doorgaan|verder|zamknij|kontynuuj|przejdź dalej|zavřít|stäng|fortsätt|luk|lukk|fortsæt|fortsett)';
/** Links beside the only button of a banner that explain it. */
const INFORMATION_WORDS =
  '\\b(?:more|learn|details?|infos?|policy|policies|notice|statement|terms|mehr|richtlinien?|hinweise?|bedingungen|impressum|imprint|savoir|politique|mentions|más|política|informativa|(?:di )?più|maggiori|saiba|termos|beleid|meer|verklaring|polity\\w+|więcej)\\b|datenschutz|erklärung';
/** Links beside the only button of a banner that lead to a choice. */
const CHOICE_WORDS =
  'option|opt[ -]?out|cho(?:ice|ose)|setting|preference|préférence|preferenc|preferenz|manage|customi[sz]e|configur|control|reject|declin|refus|deny|withdraw|necessary|essential|ablehn|widerspr|widerruf|einstellung|auswahl|auswähl|anpass|verwalt|notwendig|paramètr|paramétr|choix|personnalis|gérer|opcion|ajustes|gestion|rechaz|opzion|impostazion|personalizz|gestisci|rifiut|opç|definiç|personaliz|gerir|rejeit|recus|opties|instelling|voorkeur|beheer|weiger|opcj|ustawie|zarządza|odrzu|inställning|indstilling|innstilling|avvis|afvis|hylkää|asetukset';
const ACKNOWLEDGE_WORDS =
  "ok(?:ay)?|got it|i understand|understood|continue|verstanden|alles klar|compris|j['’]ai compris|entendido|vale|ho capito|va bene|entendi|begrepen|rozumiem|jag förstår|понятно|了解|知道了|확인";
const SUBJECT_WORDS =
  'cookies?\\b|consent|gdpr|dsgvo|ccpa|privacy|datenschutz|einwilligung|confidentialité|privacidad|privacidade|riservatezza|evästeet|souhlas|çerez|куки|クッキー|隐私|쿠키';

/** Words on buttons that accept everything, in the languages of most banners. */
export const ACCEPT = new RegExp(`^(?:${ACCEPT_WORDS})(?:${AND_THEN}${CLOSE})?[.!]?$`, 'iu');
/** Words on buttons that accept as little as possible. */
export const REJECT = new RegExp(`^(?:${REJECT_WORDS})(?:${AND_THEN}${CLOSE})?[.!]?$`, 'iu');
/** Words on buttons that only say that the banner was read. */
export const ACKNOWLEDGE = new RegExp(`^(?:${ACKNOWLEDGE_WORDS})[.!]?$`, 'iu');
/** Words of links that explain a banner. */
export const INFORMATION = new RegExp(INFORMATION_WORDS, 'iu');
/** Words of links that lead to a choice. */
export const CHOICE = new RegExp(CHOICE_WORDS, 'iu');
/** Words in the texts of banners. */
export const SUBJECT = new RegExp(SUBJECT_WORDS, 'iu');
/** Words in the ids and classes of banners. */
export const NAMED = /cookie|consent|gdpr|cmp|privacy/i;
