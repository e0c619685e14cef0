/** A template that cannot be rendered. The message is the error text of Argo CD. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/**
 * A template that Argo CD may render and Berth refuses, because the result would be wrong or would
 * take too much work.
 */
export class TemplateRefusal extends TemplateError {}
