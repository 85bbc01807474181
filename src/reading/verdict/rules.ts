import { VERDICTS, type VerdictName } from '../../capture/result/verdict.ts';
import type { Signs } from '../../page-scripts/signs/read-signs.ts';

/** Facts that the rules look at. Texts are folded, all else is in lower case. */
export interface Seen extends Signs {
  readonly title: string;
  /** HTTP status of the document. */
  readonly status: number;
  readonly url: string;
  /** No text was seen, and the screenshot is of one colour. */
  readonly isBlank: boolean;
  /** The connection ended before the document. */
  readonly isBrokenOff: boolean;
  /** Title, headings and text. */
  readonly words: string;
}

/**
 * A sign of a verdict. `weight` is the probability that a page with this sign, and no other, deserves the verdict:
 * signs of the same verdict add up as independent ones do.
 */
export interface Rule {
  readonly verdict: Exclude<VerdictName, 'content'>;
  /** Reason that the result gives: a name, never a text of the page. */
  readonly reason: string;
  readonly weight: number;
  readonly holds: (seen: Seen) => boolean;
}

/** A page with more visible characters than this is not only a message. */
const MESSAGE_CHARACTERS = 1_200;
const FEW_CHARACTERS = 300;

const isMessage = ({ text }: Seen) => text.length < MESSAGE_CHARACTERS;
const isShort = ({ text }: Seen) => text.length < FEW_CHARACTERS;
const isWalled = ({ isOverlaid, overlay, behind }: Seen) =>
  isOverlaid && behind > 100 && (overlay.text.length > 20 || overlay.frames.length > 0);
const some = (urls: readonly string[], pattern: RegExp) => urls.some((url) => pattern.test(url));

const CHALLENGE_FRAMES =
  /challenges\.cloudflare\.com|captcha-delivery\.com|_incapsula_resource|hcaptcha\.com|recaptcha\/(api2|enterprise)|arkoselabs\.com|funcaptcha\.com|geo\.captcha|px-cloud\.net|perimeterx/;
const CHALLENGE_SCRIPTS =
  /cdn-cgi\/challenge-platform|challenges\.cloudflare\.com|captcha-delivery\.com|_incapsula_resource|awswaf\.com|px-captcha|px-cloud\.net|perimeterx|\.within\.website|anubis|ddos-guard|arkoselabs\.com|kasada|\/149e9513-01fa-4fb0-aad4-566afd725d1b\//;
const CHALLENGE_WORDS =
  /just a moment|checking (if the site connection is secure|your browser)|verify(ing)? (that )?you are (a )?human|are you (a )?(human|robot)|i am not a robot|i'm not a robot|you are not a (ro)?bot|you('re| are) not a bot|prove (that )?you('re| are) (a )?human|press (&|and) hold|unusual traffic|automated (access|queries|requests|traffic)|needs to review the security of your connection|enable javascript and cookies to continue|complete the (security check|captcha)|security check(point)?|confirm(ing)? you are (a )?human|bot (detection|protection|verification)|human verification|pardon our interruption|ddos protection by|access to this page has been denied|enter the characters you see|type the characters you see|request unsuccessful\. incapsula|performing security verification|we need to make sure (that )?you('re| are) (not a robot|human)|verification successful|solve (this|the) (captcha|puzzle|challenge)|slide (right )?to (complete|verify)|suspicious activity|looks like a bot|не робот|kein roboter|mensch (bist|sind)|je ne suis pas un robot|(êtes|etes)[- ]vous (bien )?(un )?(être )?humain|no soy un robot|eres (un )?humano|non sono un robot|não sou um robô|nie jestem robotem|ロボットではありません|我不是机器人|安全验证/;
const DENIED_WORDS =
  /access denied|sorry, you have been blocked|you have been blocked|the requested url was rejected|support id|reference (#|id)|incident id|ray id|event id:|request (blocked|(has been|was) blocked)|your access to this (site|service|page) has been (limited|blocked)|your (ip|access|request) (address )?(has been|is|was) (temporarily )?(blocked|limited|denied)|attention required|blocked by (the )?(security|wordfence|sucuri|website firewall)|website firewall|web application firewall/;

const LOGIN_WORDS =
  /\b(sign|log) ?in(to)?\b|\blogin\b|\bsign on\b|\banmelden\b|\banmeldung\b|\beinloggen\b|se connecter|connexion|iniciar sesi[oó]n|accedi|inloggen|logga in|zaloguj|войти|вход|ログイン|登录|登錄|로그인|entrar/;
const LOGIN_NEEDED =
  /(sign|log) ?in (to (continue|see|view|access|join|your)|or (sign up|register|create)|required)|(please|you (must|need to|have to)) (first )?(sign|log) ?in|join (now |linkedin )?to (see|view)|sign up to (continue|see)|log in or sign up|create (an|your) account to|members? only|you need to (log in|sign in|be logged in)|bitte melden sie sich an|connectez-vous|welcome back|use your .{0,30}account|login to continue|requires? (you to )?(authentication|log ?in|sign ?in)|sign in with|continue with (google|facebook|apple|email)/;
const LOGIN_URL =
  /\/(login|log-in|signin|sign-in|sign_in|authwall|auth|oauth2?|sso|accounts\/login|wp-login\.php|session\/new|users\/sign_in|servicelogin)(\b|\/|\?|$)/;

const CONSENT_WORDS =
  /cookie|consent|gdpr|we value your privacy|your privacy|datenschutz|einwilligung|zustimm|privatsph[aä]re|confidentialit[eé]|vie priv[eé]e|privacidad|galletas|informativa|we and our .{0,20}partners|store and\/or access information/;
const CONSENT_ANSWERS =
  /accept|agree|allow|reject|decline|consent|manage (preferences|options|settings)|customi[sz]e|akzeptieren|zustimmen|ablehnen|einverstanden|accepter|refuser|aceptar|rechazar|accetta|rifiuta|accepteren|godk[aä]nn|tillad|akkoord|instemmen|got it|before you continue/;
const CONSENT_PAGES =
  /before you (continue|go)|bevor sie .{0,30}(weitergehen|fortfahren)|avant d.(acc[eé]der|aller|continuer)|antes de (continuar|ir)|prima di (continuare|andare)|voordat (je|u) verder|your privacy|privacy (gate|center|choices)|jouw privacy|uw privacy|datenschutz|vie priv[eé]e|privacidad|we value|part of .{0,30}family of brands|\/\/(consent|guce|privacy|cmp)[.-]/;
const CONSENT_PRODUCTS =
  /onetrust|cookiebot|cybot|qc-cmp|sp_message|didomi|usercentrics|uc-|truste|trustarc|fc-consent|klaro|cmplz|axeptio|iubenda|osano|cookieyes|cky-|contentpass|cmp|consent|cookie|gdpr|privacy-mgmt|sourcepoint|fundingchoices/;

const PAY_WORDS =
  /subscribe (now )?to (continue|keep|read|unlock|get)|(continue|keep) reading (with|by|this|your)|subscribers? only|for (paid |paying )?(subscribers|members)( only)?|(already a|to become a|become a) (subscriber|(paid |paying )?member)|subscription (is )?required|to read the (full|rest|whole)|read the (full|rest of|whole) (article|story)|unlock (this|the|full|unlimited)|member-only|members?-only|this (post|article|content|story) is (only )?(for|available|reserved|exclusive)|free articles?|articles? (left|remaining)|continue reading your|unlock this|join to unlock|by becoming a member|choose (a|your) (plan|subscription)|start your (free )?(trial|subscription)|cancel anytime|weiterlesen mit|jetzt weiterlesen|jederzeit k[uü]ndbar|kostenfrei testen|r[eé]serv[eé]e?s? aux abonn[eé]s|must be (subscribed|a subscriber)|abonnez-vous|article r[eé]serv[eé]|suscr[ií]bete|contenido exclusivo|per abbonati|abbonati|(jetzt|artikel).{0,40}(plus|abo) (lesen|testen|freischalten)|angebot.{0,30}monat|(€|\$|£) ?\d+(\.\d\d)? (a|per|for|\/) ?(week|month|monat|mois)/;
const SUBSCRIBER_WORDS =
  /already (a |an )?(paid |paying )?(subscriber|member|subscribed)|(bereits|schon) .{0,30}(abo\b|abonn|mitglied)|d[eé]j[aà] abonn|ya (eres|es) suscriptor|(sei )?gi[aà] abbonato|al abonnee/;
const PAY_SCRIPTS = /tinypass\.com|piano\.io|poool\.fr|zephr|pelcro|memberful|steadyhq|leaky-paywall|blendle|laterpay/;
const PAY_PRODUCTS =
  /paywall|tp-modal|tp-container|piano|poool|zephr|gateway|barrier|regwall|meter(ed)?[-_ ]|premium|subscri|mepr|pigeon|leaky|offer-|abo-?|purchase|member-?(only|gate)/;

const ERROR_TITLES =
  /^\W*(error\W*)?[45]\d\d\b|\b[45]\d\d\b\W*$|\b(error|fehler|erreur|http|status)\W{0,3}[45]\d\d\b|not found|page (not|could ?n.t be) found|internal server error|bad gateway|service (temporarily )?unavailable|gateway time-?out|forbidden|server error|application error|database error|origin (error|is unreachable)|connection timed out|seite (wurde )?nicht gefunden|page (introuvable|non trouv[eé]e)|p[aá]gina no encontrada|pagina non trovata|p[aá]gina n[aã]o encontrada|pagina niet gevonden|страница не найдена|ページが見つかりません|页面不存在|找不到页面|exception|page expired|whitelabel error|isn.t working|something went wrong|site can.t be reached|access ?denied|there isn.t a .{0,20}here|oops/;
const ERROR_WORDS =
  /page (you (are|were) looking for|you requested|(could|can) ?not be found|not found|doesn.t exist|does not exist|cannot be displayed)|(could|can)( ?not|n.t) (be found|find (that|this|the) page|establish a|be displayed)|was not found on this server|this page (could not be found|isn.t available|doesn.t exist)|no longer (available|exists)|(may|might) have been (moved|removed|deleted)|error establishing a database connection|a client-side exception has occurred|internal server error|an (unexpected |internal )?error (has )?occurred|application error|bad gateway|service unavailable|gateway time-?out|whitelabel error page|traceback|stack ?trace|exception|error code:?|deployment (could )?not (be )?found|no such app|nosuch(bucket|key)|nothing (was found|here)|we.re sorry|seite .{0,30}(nicht gefunden|existiert nicht)|n.existe pas|introuvable|no existe|no se ha encontrado|non esiste|не найдена|не существует|見つかりません|不存在|something went wrong|page has expired|server error/;

/** Statuses of walls as well as of errors. */
const WALL_STATUSES: readonly number[] = [402, 403, 405, 429, 503];
const MISSING_WORDS =
  /the page (that )?you('re| are| were)? (looking for|requested|tried) .{0,12}(doesn.t|does not|could ?n.t|could not|can.t|cannot|is ?n.t|is not|was not|no longer|may have|might have|has been)/;
const TRACE_WORDS =
  /fatal error ?:|uncaught (error|exception|typeerror)|traceback \(most recent|stack trace:|unhandled exception/;

const PARKED_WORDS =
  /(this )?domain( name)? (is|may be|has been|might be) (for sale|parked|registered|available|expired)|domain (is )?for sale|buy this domain|(inquire|enquire|make an offer|get (this|your) domain|is for sale|own this domain|purchase this domain)|parked (free|domain|page|by)|(domain|site|website) .{0,40}(expired|not (yet )?(been )?(set up|configured|connected|published)|coming soon|under construction)|related (searches|links|searches:)|sponsored listings|the domain owner|diese domain|dieser domain|domain (steht|zum) (kauf|verkauf)|ce (nom de )?domaine|default (web ?site )?page|web server('s)? default page|welcome to your (new )?(web ?site|domain|hosting)|has (just|recently) been registered|(is|was) (recently |just )?registered (at|with|by)|connect(ed)? (your|this) domain|isn.t connected|available for purchase|looks like this domain/;
const PARKED_PRODUCTS =
  /sedoparking|sedo\.com|parkingcrew|bodis|afternic|dan\.com|hugedomains|above\.com|parklogic|domaincontrol|cashparking|parkweb|godaddy.*park|lander|domainmarket|undeveloped|namebright|adsense\/domains|uniregistry|skenzo|voodoo\.com|smartname|domain-?(for-?sale|parking|parked)|parked|parking/;

/** The signs of each verdict. Words count only on a page that says little else. */
const RULES_OF: Readonly<Record<Rule['verdict'], readonly Omit<Rule, 'verdict'>[]>> = {
  bot_wall: [
    { reason: 'challenge_words', weight: 0.75, holds: (seen) => isMessage(seen) && CHALLENGE_WORDS.test(seen.words) },
    {
      reason: 'challenge_title',
      weight: 0.7,
      holds: (seen) =>
        isMessage(seen) &&
        /just a moment|attention required|access denied|access to this page has been denied|human verification|security checkpoint|making sure you|ddos-guard|pardon our interruption|robot or human|bot verification|are you (a )?(human|robot)|captcha|challenge|verify|one moment/.test(
          seen.title,
        ),
    },
    {
      reason: 'challenge_frame',
      weight: 0.7,
      holds: (seen) => isMessage(seen) && !seen.password && seen.fields < 3 && some(seen.frames, CHALLENGE_FRAMES),
    },
    {
      reason: 'challenge_script',
      weight: 0.5,
      holds: (seen) => isMessage(seen) && seen.links < 20 && some(seen.scripts, CHALLENGE_SCRIPTS),
    },
    { reason: 'denied_words', weight: 0.65, holds: (seen) => isMessage(seen) && DENIED_WORDS.test(seen.words) },
    {
      reason: 'status_and_signs',
      weight: 0.4,
      holds: (seen) =>
        isMessage(seen) &&
        WALL_STATUSES.includes(seen.status) &&
        (CHALLENGE_WORDS.test(seen.words) ||
          DENIED_WORDS.test(seen.words) ||
          some(seen.scripts, CHALLENGE_SCRIPTS) ||
          some(seen.frames, CHALLENGE_FRAMES)),
    },
    {
      reason: 'challenge_over_page',
      weight: 0.8,
      holds: (seen) =>
        isWalled(seen) && (CHALLENGE_WORDS.test(seen.overlay.text) || some(seen.overlay.frames, CHALLENGE_FRAMES)),
    },
  ],
  login_wall: [
    { reason: 'password_field', weight: 0.65, holds: (seen) => seen.password && isMessage(seen) && seen.links < 40 },
    { reason: 'status_401', weight: 0.8, holds: ({ status }) => status === 401 },
    {
      reason: 'login_title',
      weight: 0.6,
      holds: (seen) => isMessage(seen) && seen.fields > 0 && LOGIN_WORDS.test(`${seen.title} ${seen.headings}`),
    },
    {
      reason: 'login_required',
      weight: 0.6,
      holds: (seen) => isShort(seen) && LOGIN_NEEDED.test(seen.words) && LOGIN_WORDS.test(seen.words),
    },
    {
      reason: 'login_address',
      weight: 0.4,
      holds: (seen) => isMessage(seen) && LOGIN_URL.test(seen.url) && LOGIN_WORDS.test(seen.words),
    },
    {
      reason: 'login_over_page',
      weight: 0.85,
      holds: (seen) =>
        isWalled(seen) &&
        LOGIN_WORDS.test(seen.overlay.text) &&
        (seen.overlay.password || LOGIN_NEEDED.test(seen.overlay.text)),
    },
  ],
  consent_wall: [
    {
      reason: 'consent_over_page',
      weight: 0.85,
      holds: (seen) =>
        isWalled(seen) && CONSENT_WORDS.test(seen.overlay.text) && CONSENT_ANSWERS.test(seen.overlay.text),
    },
    {
      reason: 'consent_product_over_page',
      weight: 0.7,
      holds: (seen) =>
        isWalled(seen) && (CONSENT_PRODUCTS.test(seen.overlay.names) || some(seen.overlay.frames, CONSENT_PRODUCTS)),
    },
    {
      reason: 'consent_page',
      weight: 0.75,
      holds: (seen) =>
        seen.text.length < 2_500 &&
        seen.links < 15 &&
        CONSENT_PAGES.test(`${seen.title} ${seen.headings} ${seen.url} ${seen.text.slice(0, 200)}`) &&
        CONSENT_WORDS.test(seen.text) &&
        CONSENT_ANSWERS.test(seen.text),
    },
  ],
  paywall: [
    { reason: 'payment_over_page', weight: 0.85, holds: (seen) => isWalled(seen) && PAY_WORDS.test(seen.overlay.text) },
    { reason: 'paid_in_data', weight: 0.4, holds: (seen) => seen.isPaid },
    { reason: 'payment_words', weight: 0.5, holds: (seen) => seen.text.length < 5_000 && PAY_WORDS.test(seen.text) },
    {
      reason: 'subscriber_words',
      weight: 0.4,
      holds: (seen) => seen.text.length < 5_000 && SUBSCRIBER_WORDS.test(seen.text),
    },
    { reason: 'payment_script', weight: 0.4, holds: (seen) => seen.isPaid && some(seen.scripts, PAY_SCRIPTS) },
    {
      reason: 'payment_product',
      weight: 0.45,
      holds: (seen) => seen.text.length < 5_000 && PAY_PRODUCTS.test(seen.names) && PAY_WORDS.test(seen.text),
    },
  ],
  error: [
    {
      reason: 'status',
      weight: 0.8,
      holds: ({ status }) => status >= 400 && status !== 401 && !WALL_STATUSES.includes(status),
    },
    { reason: 'status_of_a_wall', weight: 0.62, holds: ({ status }) => WALL_STATUSES.includes(status) },
    { reason: 'missing_page_words', weight: 0.62, holds: (seen) => isMessage(seen) && MISSING_WORDS.test(seen.words) },
    { reason: 'trace_of_a_program', weight: 0.65, holds: (seen) => isMessage(seen) && TRACE_WORDS.test(seen.text) },
    {
      reason: 'error_title',
      weight: 0.55,
      holds: (seen) => isMessage(seen) && (ERROR_TITLES.test(seen.title) || ERROR_TITLES.test(seen.headings)),
    },
    { reason: 'error_words', weight: 0.4, holds: (seen) => isMessage(seen) && ERROR_WORDS.test(seen.words) },
  ],
  parked: [
    { reason: 'parking_words', weight: 0.82, holds: (seen) => isMessage(seen) && PARKED_WORDS.test(seen.words) },
    {
      reason: 'parking_product',
      weight: 0.5,
      holds: (seen) =>
        isMessage(seen) &&
        (some(seen.frames, PARKED_PRODUCTS) || some(seen.scripts, PARKED_PRODUCTS) || PARKED_PRODUCTS.test(seen.names)),
    },
  ],
  // An error without a body is an error.
  blank: [{ reason: 'nothing_painted', weight: 0.95, holds: ({ isBlank, status }) => isBlank && status < 400 }],
  unfinished: [
    { reason: 'broken_off', weight: 0.97, holds: ({ isBrokenOff, status }) => isBrokenOff && status < 400 },
    { reason: 'skeletons', weight: 0.75, holds: (seen) => seen.skeletons > 0.08 && isMessage(seen) },
    { reason: 'spinner', weight: 0.7, holds: (seen) => seen.spinners > 0 && seen.text.length < 200 },
    {
      reason: 'loading_words',
      weight: 0.7,
      holds: (seen) =>
        isShort(seen) &&
        /^(.{0,60} )?(loading|please wait|wird geladen|chargement|cargando|caricamento|laden|загрузка|読み込み中|加载中)\b/.test(
          seen.text,
        ),
    },
  ],
};

export const RULES: readonly Rule[] = VERDICTS.filter((verdict) => verdict !== 'content').flatMap((verdict) =>
  RULES_OF[verdict].map((rule) => ({ verdict, ...rule })),
);
