import type { IsPageItself } from './block.ts';
import type { InterceptionRule } from './intercept.ts';
import { isUnsent } from './own-origin.ts';

/**
 * Blocks requests to hosts of advertising companies. The package third-party-web lists about 750 of them; the list is
 * read when it is first needed. Requests to the company of the page itself are not blocked.
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
