import type { SoftwareSigns, Technology } from '../capture/result/host-facts.ts';
import { type CompanyOf, findTechnologies } from './find-technologies.ts';
import type { Rule } from './rule.ts';

/** Names the software behind pages. */
export interface Technologies {
  find(signs: SoftwareSigns): Promise<readonly Technology[]>;
}

/**
 * Names software by our own rules, and by those of an operator. The package third-party-web knows whose the scripts of
 * other hosts are; it is read when it is first needed.
 */
export function createTechnologies(rules: readonly Rule[] = []): Technologies {
  let companies: Promise<CompanyOf> | undefined;
  return {
    find: async (signs) => {
      companies ??= readCompanies();
      return findTechnologies(signs, await companies, rules);
    },
  };
}

async function readCompanies(): Promise<CompanyOf> {
  const { default: companies } = await import('third-party-web');
  return (url) => {
    const hostname = URL.parse(url)?.hostname ?? '';
    const name = hostname.includes('.') ? companies.getEntity(hostname)?.name : undefined;
    // The rest of a company whose products have entries of their own.
    return name?.startsWith('Other ') ? undefined : name;
  };
}
