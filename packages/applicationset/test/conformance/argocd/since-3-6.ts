/**
 * What Argo CD 3.6.1 does otherwise than 3.5.7, of which the recordings are. `test/interop/argocd/preview.test.ts` compares the
 * templates with its server.
 */
export interface TplCase {
  readonly name: string;
  readonly template: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly options?: readonly string[];
  readonly output?: string;
  readonly error?: string;
}

const failed = (template: string, text: string): string =>
  `failed to execute go template ${template}: ${text}`;
const calling = (template: string, column: number, node: string, text: string): string =>
  failed(template, `template: base:1:${column}: executing "base" at <${node}>: error calling tpl: ${text}`);

/** `tpl` is a function since 3.6. */
export const TPL_CASES: readonly TplCase[] = [
  {
    name: 'renders a parameter with the parameters',
    template: '{{ tpl .text . }}',
    params: { text: '{{ .s | upper }}!', s: 'hello' },
    output: 'HELLO!',
  },
  {
    name: 'renders with other data',
    template: '{{ tpl "{{ .x }}-{{ $.x }}" .map }}',
    params: { map: { x: 'y' } },
    output: 'y-y',
  },
  {
    name: 'shows nothing where a key is missing',
    template: '[{{ tpl "{{ .none }}" . }}][{{ .none }}]',
    params: { s: 'x' },
    output: '[][<no value>]',
  },
  {
    name: 'fails where a key is missing and that is an error',
    template: '{{ tpl "a{{ .none }}" . }}',
    params: { s: 'x' },
    options: ['missingkey=error'],
    error: calling(
      '{{ tpl "a{{ .none }}" . }}',
      3,
      'tpl "a{{ .none }}" .',
      'error during tpl function execution for "a{{ .none }}": template: base:1:4: executing "base" at <.none>: map has no entry for key "none"',
    ),
  },
  {
    name: 'fails with a text that does not parse',
    template: '{{ tpl .text . }}',
    params: { text: '{{ if }}' },
    error: calling(
      '{{ tpl .text . }}',
      3,
      'tpl .text .',
      'cannot parse template "{{ if }}": template: base:1: missing value for if',
    ),
  },
  {
    name: 'calls itself three times',
    template: '{{ tpl .a . }}',
    params: { a: '1{{ tpl .b . }}', b: '2{{ tpl .c . }}', c: '3' },
    output: '123',
  },
  {
    name: 'does not call itself a fourth time',
    template: '{{ tpl .a . }}',
    params: { a: '{{ tpl .a . }}' },
    error: calling(
      '{{ tpl .a . }}',
      3,
      'tpl .a .',
      [
        ...Array.from(
          { length: 3 },
          () =>
            'error during tpl function execution for "{{ tpl .a . }}": template: base:1:3: executing "base" at <tpl .a .>: error calling tpl: ',
        ),
        'maximum recursion depth 3 exceeded in tpl function',
      ].join(''),
    ),
  },
  {
    name: 'is as deep as before after it has failed or ended',
    template: '{{ tpl .a . }}{{ tpl .a . }}{{ tpl .a . }}{{ tpl .a . }}{{ tpl .a . }}',
    params: { a: 'x' },
    output: 'xxxxx',
  },
  {
    name: 'calls what the text around it defines, and defines its own',
    template: '{{ define "greet" }}hi {{ . }}{{ end }}{{ tpl .text . }}',
    params: { text: '{{ define "bye" }}bye{{ end }}{{ template "greet" "you" }}, {{ template "bye" }}' },
    output: 'hi you, bye',
  },
  {
    name: 'says where it failed in what the text around it defines',
    template: '{{ define "bad" }}12345678{{ fail "no" }}{{ end }}{{ tpl .text . }}',
    params: { text: '{{ template "bad" }}' },
    error: failed(
      '{{ define "bad" }}12345678{{ fail "no" }}{{ end }}{{ tpl .text . }}',
      'template: base:1:53: executing "base" at <tpl .text .>: error calling tpl: error during tpl function execution for "{{ template \\"bad\\" }}": template: base:1:29: executing "bad" at <fail "no">: error calling fail: no',
    ),
  },
  {
    name: 'replaces a template of the text around it, but not by a blank one',
    template: '{{ define "one" }}1{{ end }}{{ define "two" }}2{{ end }}{{ tpl .text . }}{{ template "one" }}',
    params: {
      text: '{{ define "one" }}I{{ end }}{{ define "two" }} {{ end }}{{ template "one" }}{{ template "two" }}',
    },
    output: 'I21',
  },
  { name: 'renders a blank text', template: '[{{ tpl " " . }}]', params: { s: 'x' }, output: '[ ]' },
  {
    name: 'takes a text only',
    template: '{{ tpl .n . }}',
    params: { n: 3 },
    error: failed(
      '{{ tpl .n . }}',
      'template: base:1:7: executing "base" at <.n>: wrong type for value; expected string; got float64',
    ),
  },
];

/** By id of the recording: what 3.6.1 makes of it. */
export const FUNCTIONS_SINCE_3_6: Readonly<Record<string, { readonly output: string }>> = {
  'go-0593': { output: 'Hello World' },
};

/** The message of the condition ParametersGenerated. */
export const MESSAGES_SINCE_3_6: ReadonlyMap<string, string> = new Map([
  [
    'Successfully generated parameters for all Applications',
    'All parameters have been generated successfully',
  ],
]);

/** Recordings whose Applications have no name: the API server refused them; since 3.6 the controller does not try. */
export const NAMELESS: readonly string[] = ['list-0267', 'applications-0085'];

export function namelessProblem(applicationSet: string): string {
  return `ApplicationSet ${applicationSet} contains an application with no name; a name must be set in the template's metadata.name or via a templatePatch (generateName is not supported)`;
}
