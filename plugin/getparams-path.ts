/** The path that Argo CD appends to the baseUrl of a plugin. */
export const GETPARAMS_PATH = '/api/v1/getparams.execute';
