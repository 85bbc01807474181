import type { IsPageItself } from './block.ts';
import type { InterceptionRule } from './intercept.ts';
import { isUnsent } from './own-origin.ts';

/**
 * Blocks what a page asks of companies whose business is advertising, by their hosts, as the package third-party-web
 * has them (some 750 companies; read when the first request wants it). What the page's own company serves is not
 * blocked, were it ads: theirs is the page that was asked for.
 */
export async function adRule(url: string, isPageItself: IsPageItself): Promise<InterceptionRule> {
  const { default: companies } = await import('third-party-web');
  const companyAt = (address: string) => {
    const hostname = URL.parse(address)?.hostname ?? '';
    return hostname === '' ? undefined : companies.getEntity(hostname);
  };
  const own = companyAt(url)?.name;
  return {
    patterns: [{ urlPattern: '*' }],
    judge: (paused) => {
      if (!isUnsent(paused) || isPageItself(paused)) return undefined;
      const company = companyAt(paused.request.url);
      return company?.category === 'ad' && company.name !== own ? { verdict: 'fail' } : undefined;
    },
  };
}
