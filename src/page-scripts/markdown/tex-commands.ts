/** Commands and environments of formulas. Each is a word that says nothing beside the others. */
const COMMANDS = /* @__PURE__ */ new Set(
  `alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi pi varpi rho varrho sigma
  varsigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega
  frac dfrac tfrac cfrac sqrt binom atop over sum prod coprod int iint iiint oint lim limsup liminf limits nolimits
  sin cos tan cot coth sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp min max sup inf det dim ker gcd arg deg Pr hom
  left right middle big Big bigg Bigg bigl bigr Bigl Bigr lvert rvert lVert rVert vert Vert langle rangle lfloor rfloor
  lceil rceil lbrace rbrace lbrack rbrack
  cdot cdots ldots dots vdots ddots times div pm mp ast star circ bullet backslash oplus ominus otimes odot
  cup cap bigcup bigcap setminus subset subseteq supset supseteq in notin ni emptyset varnothing
  land lor lnot neg wedge vee forall exists nexists implies iff therefore because
  leq le geq ge neq ne lt gt ll gg approx sim simeq cong equiv propto perp parallel mid nmid prec succ models vdash
  to gets rightarrow leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow longrightarrow Longrightarrow mapsto
  uparrow downarrow hookrightarrow xrightarrow rightharpoonup rightleftharpoons
  infty partial nabla hbar ell Re Im aleph angle triangle square prime degree dagger
  hat widehat bar overline underline vec overrightarrow tilde widetilde dot ddot overbrace underbrace overset underset stackrel substack
  text textbf textit textrm mathrm mathbf mathit mathsf mathtt mathbb mathcal mathfrak mathscr boldsymbol bm operatorname
  displaystyle textstyle scriptstyle rm bf it quad qquad hfill hline phantom boxed cancel color tag label mod bmod pmod
  matrix pmatrix bmatrix vmatrix Vmatrix Bmatrix smallmatrix array cases align aligned alignat gather gathered split equation`.split(
    /\s+/,
  ),
);

export const isCommand = (name: string): boolean => COMMANDS.has(name);
