/** What is done on the page as a person would. */
export const interactionFields = {};
