/** What is done to the page without touching it as a person would. */
export const pageFields = {};
