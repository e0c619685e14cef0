/** What Argo CD adds to a plugin's baseUrl. */
export const GETPARAMS_PATH = '/api/v1/getparams.execute';
