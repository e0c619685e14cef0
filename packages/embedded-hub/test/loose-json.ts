/** An answer of a server, which tests look into freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type LooseJson = any;
