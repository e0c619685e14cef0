/** The text of a YAML file, which the build and the tests put into the program. */
declare module '*.yaml' {
  const text: string;
  // eslint-disable-next-line no-restricted-exports -- esbuild's text loader gives the text no other name
  export default text;
}
