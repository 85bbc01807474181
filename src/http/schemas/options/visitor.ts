/** Who seems to be visiting. */
export const visitorFields = {};
