import { errorText } from '../../capture/basics/error-text.ts';
import { ConfigError } from '../../config/mod.ts';
import type { CapturingConfig } from '../../config/slices.ts';
import type { Logger } from '../../log/log.ts';
import { createTechnologies, type Technologies } from '../../technologies/technologies.ts';

/**
 * Names software by our own rules, and by those of the operator's file.
 * @throws ConfigError when the file cannot be read.
 */
export async function openTechnologies(
  { technologyRules: path, role }: Pick<CapturingConfig, 'technologyRules' | 'role'>,
  logger: Logger,
): Promise<Technologies> {
  if (path === null || role === 'api') return createTechnologies();
  const { readRulesFile } = await import('../../technologies/rules-file.ts');
  const { rules, omitted } = await readRulesFile(path).catch((error: unknown) => {
    throw new ConfigError(`--technology-rules ${JSON.stringify(path)} cannot be read: ${errorText(error)}`);
  });
  logger.info({ file: path, technologies: rules.length }, 'the rules of technologies were read');
  if (omitted > 0)
    logger.warn(
      { file: path, patterns: omitted },
      'patterns that are too long, or that RE2 does not know, are left out',
    );
  return createTechnologies(rules);
}
