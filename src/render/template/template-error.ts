/** A template that cannot be rendered. The message is the text that Argo CD gives for it. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}
