import { attribute, classOf, idOf, nameOf, type PageElement } from '../dom/dom.ts';

/* Words that tell main content from other parts of a page. */

/** In the name, class, id or role of an element. */
const BOILERPLATE =
  /(?:^|[\s_-])(?:nav|navbar|navigation|aside|complementary|contentinfo|menu|mega|foot|footer|header|sidebar|side|widget|breadcrumbs?|cookie|consent|banner|ads?|advert\w*|promo\w*|popup|modal|dialog|newsletter|subscribe|signup|share|sharing|social|login|search|filter|facets?|toolbar|pagination|pager|skip|legal|copyright)(?:$|[\s_-])/i;
const CONTROLS =
  /©|copyright|all rights reserved|privacy policy|terms (?:of|and)|cookie|sign in|log ?in|subscribe|newsletter|sign up|follow us|share this|add to (?:cart|bag|basket|wish)|read more|learn more|view all|see all|show more|load more|skip to/i;
/** Headings above links to other pages, or above something other than the page's subject. */
const ELSEWHERE =
  /related|you may|you might|also (?:like|bought|viewed)|recommend|more from|more like|more to|similar|recently viewed|people also|customers who|popular|trending|latest|most read|frequently bought|leave a (?:reply|comment)|newsletter|share this|about the author|subscribe|follow us|contact us|quick links|categories|archives|recent posts|top sellers|featured topics|compare|accessories|as seen|sign up|sign in|log ?in|create an account|cookie|tags|advertisement|sponsored|explore/i;
const REVIEWS = /reviews?|ratings?|feedback|comments?|questions|q&a|testimonials?|what people|customers say/i;

export const isOfControls = (text: string): boolean => CONTROLS.test(text);
export const leadsElsewhere = (heading: string): boolean => ELSEWHERE.test(heading);
export const isOfReviews = (heading: string): boolean => REVIEWS.test(heading);
export const isBoilerplate = (element: PageElement): boolean =>
  BOILERPLATE.test([nameOf(element), classOf(element), idOf(element), attribute(element, 'role') ?? ''].join(' '));
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
