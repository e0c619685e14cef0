/** A template that cannot be rendered. The message is the error text of Argo CD. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}
