/**
 * Signs that a run is main content, in the order in which the trees of `trees.ts` name them. Each fifth of the pages of
 * `bench extraction` was scored with trees that were fitted on the others; signs that did not help were removed.
 */
export const SIGN_NAMES = [
  // Share that Defuddle selects: of the run, of runs at the same path, under the same heading, nearby; and where that
  // is.
  'extracted',
  'pathExtracted',
  'headingExtracted',
  'nearbyExtracted',
  'isInExtracted',
  'extractedShare',
  // Share of the page in the smallest element that holds the run and nearly all long paragraphs.
  'paragraphsShare',
  // Of the runs at the same path of elements: share of the page, number, length, share of different texts.
  'pathShare',
  'pathRuns',
  'pathWords',
  'pathTexts',
  // Siblings in the largest repetition around it, and in the innermost one.
  'repeatedShare',
  'repetitions',
  'repeatedWords',
  'repeatedLinked',
  'innerRepetitions',
  'position',
  'depth',
  'seenBefore',
  'sinceHeading',
  'headingLevel',
  'headingRuns',
  'headingWords',
  'headingLinked',
  'isElsewhere',
  'isReview',
  'sinceTitle',
  'isParagraph',
  'isItem',
  'boilerplate',
  'isControl',
  'words',
  'endsSentence',
  'capitals',
  'digits',
  'inTitle',
  // The largest elements around it with less than 0.6, and 0.3, of the page.
  'sectionLinked',
  'sectionShare',
  'partLinked',
  'partWords',
  'nearbyWords',
  'nearbyLinked',
  'longest',
  'longShare',
] as const;
