import { TemplateError } from './template-error.ts';

/** Argo CD may render this, and Berth does not: it could only render it wrong, or it would take too much. */
export class TemplateRefusal extends TemplateError {}
