import { TemplateError } from './template-error.ts';

/**
 * A template that Argo CD may render and Berth refuses, because the result would be wrong or would
 * take too much work.
 */
export class TemplateRefusal extends TemplateError {}
