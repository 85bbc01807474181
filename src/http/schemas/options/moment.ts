/** When the picture is taken. */
export const momentFields = {};
