/** What is noted beside the picture, and what may be taken in place of a new capture. */
export const recordFields = {};
